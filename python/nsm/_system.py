"""Problems in Python: systems by formula, worlds of bodies, and steps one by one."""

import numpy as np

from . import _native
from ._formula import traced
from ._problem import Description, load, run


class System:
    """A system in coordinates, by formulas or by functions that are traced into formulas.

    The motion is that of kinetic energy ``v.M v/2`` and ``potential``, with ``equality`` constraints f(q, t) = 0 and ``inequality`` constraints g(q, t) >= 0
    held as hard constraints; ``restitution`` and ``friction`` (with ``tangent`` velocities) say what contacts do. Every formula may be text,
    a number, or a function whose arguments are named like coordinates, velocities (``v_x``), parameters, ``t``, or ``q`` and ``v`` for all of them.
    A function that cannot become a formula is called back in every evaluation, with a ``nsm.CallbackWarning`` that says why.
    """

    def __init__(
        self, coordinates, mass, *, potential=None, force=None, equality=None, inequality=None, tangent=None,
        invariants=None, parameters=None, restitution=None, friction=None, tangential_restitution=None, title=None,
    ):
        self.coordinates = [coordinates] if isinstance(coordinates, str) else list(coordinates)
        self.parameters = dict(parameters or {})

        functions = {}

        def formula(what, x, prefixes=("v_",)):
            return traced(what, x, self.coordinates, self.parameters, functions, prefixes)

        def table(what, entries, prefixes=("v_",)):
            return {k: formula(f"{what}.{k}", x, prefixes) for k, x in (entries or {}).items()} or None

        if isinstance(potential, (list, tuple)):
            potential = [formula(f"potential[{i}]", x) for i, x in enumerate(potential)]
        elif potential is not None:
            potential = formula("potential", potential)
        slips = {
            k: [formula(f"tangent.{k}", x) for x in (v if isinstance(v, (list, tuple)) else [v])]
            for k, v in (tangent or {}).items()
        }
        system = {
            "coordinates": self.coordinates, "mass": mass, "parameters": self.parameters or None, "potential": potential,
            "force": table("force", force), "equality": table("equality", equality),
            "inequality": table("inequality", inequality), "tangent": slips or None,
            "invariants": table("invariants", invariants, ("p_",)),
        }
        self._functions = functions
        self._problem = {
            "title": title, "restitution": restitution, "friction": friction,
            "tangential_restitution": tangential_restitution, "system": {k: v for k, v in system.items() if v is not None},
        }

    def to_problem(self, q=None, v=None, p=None, t=None, **options):
        """The dict that ``nsm.run`` takes, with one run."""
        start = {"q": q, "v": v, "p": p, "t": t}
        problem = Description({k: x for k, x in self._problem.items() if x is not None})
        problem.functions = self._functions
        problem["start"] = {k: listed(x) for k, x in start.items() if x is not None}
        problem["run"] = [{"name": "run", **{k: x for k, x in options.items() if x is not None}}]
        return problem

    def run(self, q, v=None, *, p=None, t=None, step, end, method=None, progress=False, **options):
        """Runs from positions ``q`` and velocities ``v`` (or momenta ``p``); without ``method`` the recommended one is taken."""
        problem = self.to_problem(q, v, p, t, step=step, end=end, method=method, **options)
        return run(problem, progress=progress).only

    def simulate(self, q, v=None, *, p=None, t=None, step, method=None, **options):
        """A simulation to be stepped by hand."""
        begin = t or 0.0
        problem = self.to_problem(q, v, p, t, step=step, end=begin + step, method=method, **options)
        return Simulation(load(problem))


class World:
    """Rigid bodies, planes, joints, springs, loads and contacts: each method takes what the table of that name takes in a problem file."""

    def __init__(self, **defaults):
        self._tables = {}
        self._defaults = defaults

    def _add(self, table, entry):
        self._tables.setdefault(table, []).append({k: listed(v) for k, v in entry.items() if v is not None})
        return self

    def body(self, name, **keys):
        return self._add("body", {"name": name, **keys})

    def plane(self, name, normal=(0, 0, 1), offset=0, **keys):
        return self._add("plane", {"name": name, "normal": normal, "offset": offset, **keys})

    def joint(self, type, bodies, **keys):
        return self._add("joint", {"type": type, "bodies": list(bodies), **keys})

    def spring(self, a, b, **keys):
        return self._add("spring", {"between": [a, b], **keys})

    def beam(self, name, **keys):
        return self._add("beam", {"name": name, **keys})

    def point_mass(self, name, **keys):
        return self._add("point_mass", {"name": name, **keys})

    def load(self, where, **keys):
        return self._add("load", {"where": where, **keys})

    def contact(self, a, b, **keys):
        return self._add("contact", {"between": [a, b], **keys})

    def to_problem(self, **options):
        """The dict that ``nsm.run`` takes, with one run."""
        problem = {k: listed(v) for k, v in self._defaults.items()}
        problem.update(self._tables)
        problem["run"] = [{"name": "run", **{k: x for k, x in options.items() if x is not None}}]
        return problem

    def run(self, *, step, end, method=None, progress=False, **options):
        """Runs the world; without ``method`` the recommended one is taken."""
        return run(self.to_problem(step=step, end=end, method=method, **options), progress=progress).only

    def simulate(self, *, step, method=None, **options):
        """A simulation to be stepped by hand."""
        return Simulation(load(self.to_problem(step=step, end=step, method=method, **options)))


class Simulation:
    """Steps one by one: ``sim.step(100)``, ``sim.t``, ``sim.q``, ``sim.v``, ``sim.p``, ``sim.state``; of free bodies ``sim.bodies``."""

    def __init__(self, problem, run=0):
        self._native = _native.Simulation(load(problem), run)

    def step(self, count=1):
        """Takes steps; raises ``nsm.StepError`` where one fails, with the state before it kept."""
        self._native.advance(count)
        return self

    @property
    def t(self):
        return self._native.t

    def _third(self, k, name):
        if self._native.bodies:
            raise AttributeError(f"free bodies have no `{name}`: ask `bodies`, or `state`")
        n = len(self.names)
        return self._native.row[k * n : (k + 1) * n]

    @property
    def q(self):
        return self._third(0, "q")

    @property
    def v(self):
        return self._third(1, "v")

    @property
    def p(self):
        return self._third(2, "p")

    @property
    def bodies(self):
        """Position, rotation, momentum and angular momentum (about its own axes) of each free body, by its name."""
        if not self._native.bodies:
            raise AttributeError("the system moves by coordinates: ask `q`, `v`, `p`, or `state`")
        rows = self._native.row.reshape(-1, 18)
        names = [name[: -len("_x")] for name in self.names[::18]]
        return {
            name: {"position": r[:3], "rotation": r[3:12].reshape(3, 3), "momentum": r[12:15], "angular_momentum": r[15:]}
            for name, r in zip(names, rows)
        }

    @property
    def events(self):
        """How many events there were."""
        return self._native.events

    @property
    def names(self):
        """Names of the coordinates; of free bodies, of all numbers of the state."""
        return self._native.names

    @property
    def state(self):
        """Time, and positions and velocities by the names of coordinates, or poses and momenta of bodies by the names of their columns."""
        state = {"t": self.t}
        if self._native.bodies:
            state.update(zip(self.names, self._native.row.tolist()))
            return state
        state.update(zip(self.names, self.q.tolist()))
        state.update(zip(("v_" + n for n in self.names), self.v.tolist()))
        return state

    def set(self, q=None, v=None, t=None, bodies=None):
        """Goes on from another state, ``q`` and ``v``, or of free bodies ``bodies``, a dict of what changes as ``sim.bodies`` gives it; it must keep the constraints."""
        if self._native.bodies:
            if bodies is None or q is not None or v is not None:
                raise TypeError("the state of free bodies is set by `bodies`")
            now = self.bodies
            for name, change in bodies.items():
                if name not in now:
                    raise KeyError(f"there is no body `{name}` (known: {', '.join(now)})")
                unknown = set(change) - set(now[name])
                if unknown:
                    raise KeyError(f"a body has no `{unknown.pop()}` but {', '.join(now[name])}")
                now[name].update(change)
            row = [float(x) for body in now.values() for part in body.values() for x in np.ravel(part)]
        else:
            if q is None or v is None:
                raise TypeError("a state is set by `q` and `v`")
            q, v = [float(x) for x in q], [float(x) for x in v]
            if len(q) != len(self.names) or len(v) != len(self.names):
                message = f"{len(q)} positions and {len(v)} velocities for {len(self.names)} coordinates"
                raise _native.ProblemError(message)
            row = q + v
        self._native.set(self.t if t is None else float(t), row)
        return self


def listed(x):
    return x.tolist() if hasattr(x, "tolist") else x
