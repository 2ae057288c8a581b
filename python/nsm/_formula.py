"""Functions become formulas: a function of the coordinates is called once with symbols, and what it computes is written down.

The derivatives of a formula are exact, and no step calls back into Python. What cannot be written as one formula, a branch on a coordinate for
instance, is called back instead, with a warning (``_callback.py``).
"""

import builtins
import inspect
import math
from numbers import Real

from ._callback import JETS, Callback, Jet

pi = math.pi


class Formula:
    """An expression of coordinates; arithmetic on it gives expressions."""

    __slots__ = ("formula",)
    __array_priority__ = 1000

    def __init__(self, formula):
        self.formula = formula

    def __repr__(self):
        return f"Formula({self.formula!r})"

    def __add__(self, other):
        return binary(self, "+", other)

    def __radd__(self, other):
        return binary(other, "+", self)

    def __sub__(self, other):
        return binary(self, "-", other)

    def __rsub__(self, other):
        return binary(other, "-", self)

    def __mul__(self, other):
        return binary(self, "*", other)

    def __rmul__(self, other):
        return binary(other, "*", self)

    def __truediv__(self, other):
        return binary(self, "/", other)

    def __rtruediv__(self, other):
        return binary(other, "/", self)

    def __pow__(self, other):
        return binary(self, "^", other)

    def __rpow__(self, other):
        return binary(other, "^", self)

    def __neg__(self):
        return Formula(f"(-{self.formula})")

    def __pos__(self):
        return self

    def __abs__(self):
        return call("abs", self)

    def __floor__(self):
        return call("floor", self)

    def _refuse(self, *_):
        raise TypeError(
            "a formula has no value while it is traced: a branch, a comparison or a plain number made of a coordinate cannot become a formula "
            "(nsm.min, nsm.max, nsm.abs, nsm.sin … can)"
        )

    __bool__ = __float__ = __int__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = _refuse
    __hash__ = object.__hash__

    def __eq__(self, other):
        self._refuse()

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """NumPy's functions work on formulas: ``np.sin(x)``."""
        name = {
            "add": "+", "subtract": "-", "multiply": "*", "true_divide": "/", "divide": "/", "power": "^",
        }.get(ufunc.__name__)
        if method != "__call__" or options:
            return NotImplemented
        if name:
            return binary(inputs[0], name, inputs[1])
        known = {
            "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
            "arctan": "atan", "arctan2": "atan2", "exp": "exp", "log": "log", "absolute": "abs", "fabs": "abs",
            "minimum": "min", "maximum": "max", "floor": "floor",
        }.get(ufunc.__name__)
        if known:
            return call(known, *inputs)
        if ufunc.__name__ == "square":
            return binary(inputs[0], "^", 2)
        if ufunc.__name__ == "negative":
            return -inputs[0]
        if ufunc.__name__ == "hypot":
            return call("sqrt", binary(binary(inputs[0], "^", 2), "+", binary(inputs[1], "^", 2)))
        raise TypeError(f"formulas do not know numpy.{ufunc.__name__}")


def text(x):
    if isinstance(x, Formula):
        return x.formula
    if isinstance(x, Real):
        x = float(x)
        if not math.isfinite(x):
            raise ValueError(f"a formula cannot hold {x}")
        return repr(x) if x >= 0 else f"({x!r})"
    raise TypeError(f"a formula is made of coordinates and numbers, not of {type(x).__name__}: {x!r}")


def binary(a, operator, b):
    return Formula(f"({text(a)} {operator} {text(b)})")


def call(name, *arguments):
    return Formula(f"{name}({', '.join(text(a) for a in arguments)})")


def _function(name, plain):
    def function(*arguments):
        if any(isinstance(a, Formula) for a in arguments):
            return call(name, *arguments)
        if any(isinstance(a, Jet) for a in arguments):
            return JETS[name](*arguments)
        return plain(*arguments)

    function.__name__ = name
    function.__doc__ = f"``{name}`` of formulas or numbers."
    return function


sqrt = _function("sqrt", math.sqrt)
sin = _function("sin", math.sin)
cos = _function("cos", math.cos)
tan = _function("tan", math.tan)
asin = _function("asin", math.asin)
acos = _function("acos", math.acos)
atan = _function("atan", math.atan)
atan2 = _function("atan2", math.atan2)
exp = _function("exp", math.exp)
log = _function("log", math.log)
abs = _function("abs", builtins.abs)
floor = _function("floor", math.floor)
min = _function("min", builtins.min)
max = _function("max", builtins.max)


def traced(what, x, coordinates, parameters, functions, prefixes=("v_",)):
    """The text of a formula that is given as text, as a number, or as a function of coordinates, velocities, parameters and ``t``.

    A function that cannot become a formula is put into ``functions``, and the text is a call of it.
    """
    if isinstance(x, str):
        return x
    if isinstance(x, (Real, Formula)):
        return text(x)
    if not callable(x):
        raise TypeError(f"{what}: expected a formula in quotes, a number or a function, not {type(x).__name__}")
    known = set(coordinates) | {prefix + name for prefix in prefixes for name in coordinates} | set(parameters) | {"t"}
    #: What each argument of the function is: one name, or a list of them.
    wanted = []
    for name in inspect.signature(x).parameters:
        if name in known:
            wanted.append(name)
        elif name == "q":
            wanted.append(list(coordinates))
        elif name == "v" and "v_" in prefixes:
            wanted.append(["v_" + c for c in coordinates])
        else:
            names = ", ".join(sorted(known)[:20])
            raise TypeError(f"{what}: the function asks for `{name}`, which is none of {names}, q, v")

    def packed(values):
        """The arguments, made of the values of all names in their order."""
        values = iter(values)
        return [[next(values) for _ in w] if isinstance(w, list) else next(values) for w in wanted]

    names = [name for w in wanted for name in (w if isinstance(w, list) else [w])]
    try:
        return text(x(*packed(Formula(name) for name in names)))
    except NameError:
        raise
    except Exception as error:  # whatever it is, the function does not take formulas
        called = f"callback_{len(functions)}"
        functions[called] = Callback(what, lambda *values: x(*packed(values)), len(names), str(error) or type(error).__name__)
        if not names:
            raise TypeError(f"{what}: {error}") from None
        return f"{called}({', '.join(names)})"
