"""Problems as text, path or dict, and their runs."""

import functools
import json
import os
import sys
from collections.abc import Mapping

from . import _native, _toml
from ._result import Result, Results


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; ``results`` holds what was computed up to there."""

    def __init__(self, results):
        super().__init__("interrupted; `results` holds what was computed")
        self.results = results


class Description(dict):
    """What a problem file would say, with the functions that its formulas call back."""

    functions = {}


def load(problem):
    """Reads a problem: TOML text, the path of a file, a dict, or one that was read."""
    if isinstance(problem, _native.Problem):
        return problem
    if hasattr(problem, "to_problem"):
        problem = problem.to_problem()
    text, path = told(problem)
    if path is not None:
        return _native.Problem.read(path)
    functions = getattr(problem, "functions", {})
    return _native.Problem.parse(text, [(name, f, f.arity) for name, f in functions.items()])


def told(problem):
    """The text of a problem, or the path of its file."""
    if isinstance(problem, Mapping):
        return _toml.dumps(problem), None
    if isinstance(problem, os.PathLike):
        return None, os.fspath(problem)
    if not isinstance(problem, str):
        raise TypeError(f"a problem is TOML text, a path or a dict, not {type(problem).__name__}")
    if "\n" in problem or "=" in problem:
        return problem, None
    return None, problem


@functools.lru_cache(maxsize=4)
def lazy(text, path, stamp):
    """A problem whose members are built one at a time; kept, so that a worker reads a problem once for all its members."""
    return _native.Members.parse(text) if path is None else _native.Members.read(path)


def lazy_members(problem):
    if hasattr(problem, "to_problem"):
        problem = problem.to_problem()
    if getattr(problem, "functions", None):
        raise TypeError("members of a family go to other processes, and functions that are called back cannot: give formulas, or use nsm.run")
    text, path = told(problem)
    stamp = None
    if path is not None and os.path.exists(path):
        status = os.stat(path)
        stamp = status.st_mtime_ns, status.st_size
        path = os.path.abspath(path)
    return lazy(text, path, stamp)


def listed(problem):
    return json.loads(problem.runs())


class Progress:
    """A bar for runs that take long: tqdm's if it is installed, else a line on the terminal; nothing for short ones."""

    def __init__(self, name, show):
        self.name, self.show, self.bar, self.shown = name, show, None, -1

    def __call__(self, share):
        if not self.show:
            return
        if self.bar is None:
            try:
                from tqdm.auto import tqdm

                self.bar = tqdm(total=100, desc=self.name, leave=False)
            except ImportError:
                self.bar = False
        percent = int(100 * share)
        if percent <= self.shown:
            return
        if self.bar:
            self.bar.update(percent - max(self.shown, 0))
        elif sys.stderr.isatty():
            print(f"\r{self.name}: {percent} %", end="", file=sys.stderr, flush=True)
        self.shown = percent

    def close(self):
        if self.bar:
            self.bar.close()
        elif self.bar is False and sys.stderr.isatty():
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr)


def execute(problem, index, show=False, out=None):
    """Makes one run; raises what interrupted it together with its result so far."""
    name = listed(problem)[index]["name"]
    progress = Progress(name, show)
    try:
        made, raised = problem.execute(index, progress if show else None, out)
    finally:
        progress.close()
    return Result(problem, made), raised


def run(problem, *, runs=None, progress=False, out=None):
    """Runs a problem: TOML text, the path of a file, or a dict with what a file would say.

    Returns a mapping from the names of runs to results; a family, made by ``vary``, is a list. ``runs`` names those to make (all if None),
    ``progress`` shows a bar, ``out`` is a folder for the CSV files that ``nsm run`` writes. A run whose step failed is a result with
    ``failure``, and keeps everything up to it. Ctrl-C raises ``nsm.Interrupted``, a KeyboardInterrupt with the results so far; what a function of the
    problem raises has them as ``results`` too.
    """
    problem = load(problem)
    entries = listed(problem)
    if runs is not None:
        asked = [runs] if isinstance(runs, str) else list(runs)
        known = {name for e in entries for name in (e["name"], e["family"]) if name}
        for name in asked:
            if name not in known:
                raise KeyError(f"there is no run `{name}` (known: {', '.join(sorted(known))})")
    results = Results(problem)
    for index, entry in enumerate(entries):
        if runs is not None and entry["name"] not in asked and entry["family"] not in asked:
            continue
        result, raised = execute(problem, index, progress, out)
        results.add(entry, result)
        if isinstance(raised, KeyboardInterrupt):
            raise Interrupted(results)
        if raised is not None:
            raised.results = results
            raise raised
    return results


def check(problem):
    """Reads a problem and says what its runs would be, without running: a list of dicts."""
    return listed(load(problem))


def members(problem):
    """How many runs a problem has, each member of a family counted: a range to map ``run_member`` over. None of them is built."""
    return range(len(lazy_members(problem)))


def run_member(problem, index):
    """Makes one run of a problem by its place, and returns plain data that any scheduler can send: see ``Result.to_dict``.

    Only this member is built, so that a family of any length maps over processes, Dask or Ray: ``pool.map(nsm.run_member, [problem] * n, range(n))``.
    """
    result, raised = execute(lazy_members(problem).problem(index), 0)
    if raised is not None:
        raise raised
    return result.to_dict()
