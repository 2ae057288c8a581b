"""Results of runs: NumPy columns, events, the ledger."""

import html
import json

import numpy as np


class Body:
    """Where a body was: ``position`` (n x 3), ``rotation`` (n x 3 x 3), ``momentum`` (n x 3) and, for free bodies, ``angular_momentum`` in the body's frame."""

    def __init__(self, name, result, free):
        self.name, self._result, self._free = name, result, free

    def _array(self, what, names):
        if any(n not in self._result for n in names):
            raise AttributeError(f"the columns of `{self.name}` tell no {what}")
        return np.stack([self._result[n] for n in names], axis=-1)

    @property
    def position(self):
        dot = "_" if self._free else "."
        return self._array("position", [f"{self.name}{dot}{c}" for c in "xyz"])

    @property
    def rotation(self):
        if self._free:
            names = [f"{self.name}_R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
        else:
            names = [f"{self.name}.d{j}{c}" for c in "xyz" for j in (1, 2, 3)]
        flat = self._array("rotation", names)
        return flat.reshape(-1, 3, 3)

    @property
    def momentum(self):
        names = [f"{self.name}_p{c}" if self._free else f"p_{self.name}.{c}" for c in "xyz"]
        return self._array("momentum", names)

    @property
    def angular_momentum(self):
        return self._array("angular momentum", [f"{self.name}_L{i}" for i in (1, 2, 3)])


class Result:
    """One run. ``r["y"]`` is a column; ``r.t``, ``r.energy`` are the commonest; ``r.ledger`` is what ``nsm run --json`` prints."""

    def __init__(self, problem, native):
        self._problem, self._native = problem, native
        self.name, self.family, self.method = native.name, native.family, native.method
        self.recommended = native.recommended
        self.failure, self.interrupted = native.failure, native.interrupted
        self.columns = native.columns
        self._samples = native.samples
        self._places = {name: i for i, name in enumerate(self.columns)}
        self._ledger = None

    def __getitem__(self, column):
        place = self._places.get(column)
        if place is None:
            import difflib

            near = difflib.get_close_matches(str(column), self.columns, 1)
            hint = f", did you mean {near[0]!r}?" if near else f" (known: {', '.join(self.columns[:20])})"
            raise KeyError(f"there is no column {column!r}{hint}")
        return self._samples[:, place]

    def __contains__(self, column):
        return column in self._places

    def __len__(self):
        return len(self._samples)

    @property
    def t(self):
        return self["t"]

    @property
    def energy(self):
        return self["E"]

    @property
    def samples(self):
        """All columns, one row per recorded instant."""
        return self._samples

    @property
    def ledger(self):
        """Everything the run tells of itself, as ``nsm run --json`` prints it: energies, invariants, penetration, contacts, reactions …"""
        if self._ledger is None:
            self._ledger = json.loads(self._native.json())
        return self._ledger

    @property
    def events(self):
        """The events that are kept in full: instant, contacts, impulses, state after."""
        return self.ledger["event_records"]

    @property
    def event_times(self):
        return self._native.event_times

    @property
    def warnings(self):
        return [w["message"] for w in self.ledger["warnings"]]

    @property
    def final(self):
        return self.ledger["final"]

    @property
    def reactions(self):
        """What joints carry, by column, as NumPy arrays; empty where nothing is carried."""
        table = self._native.reactions
        return {name: table[:, i] for i, name in enumerate(self._native.reaction_columns)}

    @property
    def bodies(self):
        """Bodies by name."""
        found = {}
        for column in self.columns:
            if column.endswith("_R11"):
                found[column[:-4]] = Body(column[:-4], self, True)
            elif column.endswith(".x") and not column.startswith(("v_", "p_", "gap_")):
                found[column[:-2]] = Body(column[:-2], self, False)
        return found

    def to_dict(self):
        """Plain data: the ledger, and the columns as lists."""
        columns = {name: self._samples[:, i].tolist() for i, name in enumerate(self.columns)}
        return {"name": self.name, "method": self.method, "failure": self.failure, **self.ledger, "columns": columns}

    def to_pandas(self):
        """The columns as a DataFrame with the index ``t``."""
        import pandas

        return pandas.DataFrame(self._samples, columns=self.columns).set_index("t")

    def plot(self, *columns, ax=None):
        """Draws columns (the energy if none is named) over time with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots()[1]
        for column in columns or ("E",):
            ax.plot(self.t, self[column], label=column)
        ax.set_xlabel("t")
        ax.legend()
        return ax

    def page(self):
        """The page with plots and film that ``nsm run`` writes, as HTML."""
        return self._problem.page([self._native])

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.page(), quote=True)}" style="width:100%;height:36em;border:0"></iframe>'

    def __repr__(self):
        state = f"failed at {self.failure}" if self.failure else ("interrupted" if self.interrupted else "complete")
        ledger = self.ledger
        return f"<nsm.Result {self.name}: {self.method}, {ledger['steps']} steps, {ledger['events']} events, {state}>"


class Results(dict):
    """Results by the names of runs; a family is a list."""

    def __init__(self, problem):
        super().__init__()
        self._problem, self._all = problem, []

    def add(self, entry, result):
        self._all.append(result)
        if entry["family"] is None:
            self[entry["name"]] = result
        else:
            self.setdefault(entry["family"], []).append(result)

    @property
    def all(self):
        """Every run, members of families one by one, in the order of the file."""
        return list(self._all)

    @property
    def only(self):
        """The result, if there is but one."""
        if len(self._all) != 1:
            raise ValueError(f"there are {len(self._all)} runs: {', '.join(self)}")
        return self._all[0]

    def verdicts(self):
        """What became of the expectations of the problem."""
        return json.loads(self._problem.judge([r._native for r in self._all]))

    def _repr_html_(self):
        page = self._problem.page([r._native for r in self._all])
        return f'<iframe srcdoc="{html.escape(page, quote=True)}" style="width:100%;height:36em;border:0"></iframe>'
