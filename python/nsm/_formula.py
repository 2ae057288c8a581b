"""Functions become formulas: a function of the coordinates is called once with symbols, and what it computes is written down.

The derivatives of a formula are exact, and no step calls back into Python. What cannot be written as one formula, a branch on a coordinate for
instance, is refused with a message that says what to use instead.
"""

import builtins
import inspect
import math
from numbers import Real

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
            "a formula has no value while it is traced: a branch or a comparison on a coordinate cannot become a formula; "
            "use nsm.min, nsm.max and nsm.abs, or give the formula as a string"
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


def traced(what, x, coordinates, parameters, prefixes=("v_",)):
    """The text of a formula that is given as text, as a number, or as a function of coordinates, velocities, parameters and ``t``."""
    if isinstance(x, str):
        return x
    if isinstance(x, (Real, Formula)):
        return text(x)
    if not callable(x):
        raise TypeError(f"{what}: expected a formula in quotes, a number or a function, not {type(x).__name__}")
    known = {name: name for name in coordinates}
    known.update({prefix + name: prefix + name for prefix in prefixes for name in coordinates})
    known.update({name: name for name in parameters})
    known["t"] = "t"
    arguments = []
    for name in inspect.signature(x).parameters:
        if name in known:
            arguments.append(Formula(known[name]))
        elif name == "q":
            arguments.append([Formula(c) for c in coordinates])
        elif name == "v":
            arguments.append([Formula("v_" + c) for c in coordinates])
        else:
            names = ", ".join(list(known)[:20])
            raise TypeError(f"{what}: the function asks for `{name}`, which is none of {names}, q, v")
    try:
        return text(x(*arguments))
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None
