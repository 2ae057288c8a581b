"""nsm, nonsmooth mechanics: systems with hard contacts, impacts, joints and friction.

``nsm.run(problem)`` runs a problem given as TOML text, as a path or as a dict. ``nsm.System`` and ``nsm.World`` describe problems in Python.
``nsm.lcp``, ``nsm.nnls`` and ``nsm.friction`` solve complementarity problems and know nothing of mechanics.
"""

from ._callback import CallbackWarning
from ._formula import (
    Formula, abs, acos, asin, atan, atan2, cos, exp, floor, log, max, min, pi, sin, sqrt, tan,
)
from ._native import ProblemError, SolverError, StepError, __version__
from ._problem import Interrupted, check, members, run, run_member
from ._result import Body, Result, Results
from ._solvers import FrictionSolution, LcpSolution, NnlsSolution, friction, lcp, nnls
from ._system import Simulation, System, World

__all__ = [
    "Body", "CallbackWarning", "Formula", "FrictionSolution", "Interrupted", "LcpSolution", "NnlsSolution", "ProblemError", "Result", "Results",
    "Simulation", "SolverError", "StepError", "System", "World", "__version__", "abs", "acos", "asin", "atan",
    "atan2", "check", "cos", "exp", "floor", "friction", "lcp", "log", "max", "members", "min", "nnls", "pi", "run", "run_member",
    "sin", "sqrt", "tan",
]
