"""Functions that cannot be written as formulas are called back: in every evaluation, with their derivatives.

The derivatives are exact where the function can be computed with jets, numbers that carry their gradient and Hessian: arithmetic, NumPy's and ``nsm``'s
functions, branches and loops. Where it asks for plain numbers (``math.sin``, tables, other programs), they are central differences.
"""

import math
import warnings

import numpy as np


class CallbackWarning(UserWarning):
    """A function is called back in every evaluation, which is slower than a formula."""


class Jet:
    """A number with its gradient and Hessian in the arguments of a function; comparisons look at the number."""

    __slots__ = ("value", "first", "second")
    __array_priority__ = 1000

    def __init__(self, value, first, second):
        self.value, self.first, self.second = value, first, second

    def _outer(self, value, slope, curvature):
        """The jet of f(self), given f, f' and f''."""
        second = slope * self.second
        if curvature != 0:
            second = second + curvature * np.multiply.outer(self.first, self.first)
        return Jet(value, slope * self.first, second)

    def __add__(self, other):
        if isinstance(other, Jet):
            return Jet(self.value + other.value, self.first + other.first, self.second + other.second)
        return Jet(self.value + _plain(other), self.first, self.second)

    __radd__ = __add__

    def __neg__(self):
        return Jet(-self.value, -self.first, -self.second)

    def __pos__(self):
        return self

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if isinstance(other, Jet):
            mixed = np.multiply.outer(self.first, other.first)
            second = self.value * other.second + other.value * self.second + mixed + mixed.T
            return Jet(self.value * other.value, self.value * other.first + other.value * self.first, second)
        return self._outer(self.value * _plain(other), _plain(other), 0)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * (other**-1 if isinstance(other, Jet) else 1 / _plain(other))

    def __rtruediv__(self, other):
        return self**-1 * other

    def __pow__(self, other):
        if isinstance(other, Jet):
            return _exp(other * _log(self))
        x, n = self.value, _plain(other)
        if n == 0:
            return self._outer(1.0, 0.0, 0.0)
        return self._outer(x**n, n * x ** (n - 1), n * (n - 1) * x ** (n - 2) if n not in (0, 1) else 0.0)

    def __rpow__(self, other):
        return _exp(self * math.log(_plain(other)))

    def __abs__(self):
        return -self if self.value < 0 else self

    def __floor__(self):
        return math.floor(self.value)

    def __lt__(self, other):
        return self.value < _value(other)

    def __le__(self, other):
        return self.value <= _value(other)

    def __gt__(self, other):
        return self.value > _value(other)

    def __ge__(self, other):
        return self.value >= _value(other)

    def __eq__(self, other):
        return self.value == _value(other)

    def __bool__(self):
        return self.value != 0

    __hash__ = None

    def __float__(self):
        # Whoever asks for a plain number would lose the derivatives without a word.
        raise TypeError("it asks for plain numbers")

    __int__ = __index__ = __float__

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        known = JETS.get(ufunc.__name__)
        if method != "__call__" or options or known is None:
            raise TypeError(f"jets do not know numpy.{ufunc.__name__}")
        return known(*inputs)


def _plain(x):
    if isinstance(x, Jet):
        raise TypeError("it asks for plain numbers")
    return float(x)


def _value(x):
    return x.value if isinstance(x, Jet) else x


def _of_one(f, slope, curvature):
    def function(x):
        if not isinstance(x, Jet):
            return f(x)
        return x._outer(f(x.value), slope(x.value), curvature(x.value))

    return function


_exp = _of_one(math.exp, math.exp, math.exp)
_log = _of_one(math.log, lambda x: 1 / x, lambda x: -1 / x**2)
_sqrt = _of_one(math.sqrt, lambda x: 0.5 / math.sqrt(x), lambda x: -0.25 / x**1.5)
_sin = _of_one(math.sin, math.cos, lambda x: -math.sin(x))
_cos = _of_one(math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x))
_tan = _of_one(math.tan, lambda x: 1 + math.tan(x) ** 2, lambda x: 2 * math.tan(x) * (1 + math.tan(x) ** 2))
_asin = _of_one(math.asin, lambda x: (1 - x * x) ** -0.5, lambda x: x * (1 - x * x) ** -1.5)
_acos = _of_one(math.acos, lambda x: -((1 - x * x) ** -0.5), lambda x: -x * (1 - x * x) ** -1.5)
_atan = _of_one(math.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2)
_tanh = _of_one(math.tanh, lambda x: 1 - math.tanh(x) ** 2, lambda x: -2 * math.tanh(x) * (1 - math.tanh(x) ** 2))
_sinh = _of_one(math.sinh, math.cosh, math.sinh)
_cosh = _of_one(math.cosh, math.sinh, math.cosh)


def _atan2(y, x):
    angle = math.atan2(_value(y), _value(x))
    # The derivatives are those of atan(y/x) or of -atan(x/y), whichever quotient is small.
    turned = _atan(y / x) if abs(_value(y)) <= abs(_value(x)) else -_atan(x / y)
    return Jet(angle, turned.first, turned.second) if isinstance(turned, Jet) else angle


#: Functions of jets by their names in NumPy; those of ``nsm`` are found by the short names.
JETS = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b,
    "true_divide": lambda a, b: a / b, "power": lambda a, b: a**b, "negative": lambda a: -a, "square": lambda a: a * a,
    "sqrt": _sqrt, "sin": _sin, "cos": _cos, "tan": _tan, "arcsin": _asin, "arccos": _acos, "arctan": _atan, "arctan2": _atan2,
    "asin": _asin, "acos": _acos, "atan": _atan, "atan2": _atan2, "exp": _exp, "log": _log, "tanh": _tanh, "sinh": _sinh,
    "cosh": _cosh, "absolute": abs, "fabs": abs, "abs": abs, "hypot": lambda a, b: _sqrt(a * a + b * b),
    "minimum": lambda a, b: b if b < a else a, "maximum": lambda a, b: b if b > a else a,
    "min": min, "max": max, "floor": math.floor,
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
}


class Callback:
    """A function of numbers with its first and second partial derivatives, as the native part asks for them."""

    def __init__(self, what, function, arity, reason):
        self.what, self.function, self.arity, self.reason = what, function, arity, reason
        self.at, self.jet, self.exact, self.told = None, None, True, False
        self.scale = [0.0] * arity

    def __call__(self, arguments, by):
        for i, x in enumerate(arguments):
            self.scale[i] = max(self.scale[i], abs(x))
        if not self.told:
            self.tell(arguments)
        if not by:
            return float(self.function(*arguments))
        if len(by) > 2:
            raise TypeError(f"{self.what}: a function that is called back has first and second derivatives only; give a formula")
        if not self.exact:
            return self.difference(list(arguments), by)
        jet = self.jet_at(arguments)
        return float(jet.first[by[0]] if len(by) == 1 else jet.second[by[0], by[1]])

    def jet_at(self, arguments):
        if self.at != arguments:
            unit = np.eye(self.arity)
            zero = np.zeros((self.arity, self.arity))
            jet = self.function(*[Jet(x, unit[i], zero) for i, x in enumerate(arguments)])
            self.jet = jet if isinstance(jet, Jet) else Jet(float(jet), np.zeros(self.arity), zero)
            self.at = list(arguments)
        return self.jet

    def difference(self, x, by):
        width = np.finfo(float).eps ** (1 / (2 + len(by)))
        i, h = by[0], width * (self.scale[by[0]] or 1.0)

        def shifted(change):
            moved = list(x)
            moved[i] += change
            return float(self.function(*moved)) if len(by) == 1 else self.difference(moved, by[1:])

        if len(by) == 2 and by[0] == by[1]:
            f = [float(self.function(*x[:i], x[i] + s * h, *x[i + 1 :])) for s in (-1, 0, 1)]
            return (f[0] - 2 * f[1] + f[2]) / h**2
        return (shifted(h) - shifted(-h)) / (2 * h)

    def tell(self, arguments):
        """Finds out how derivatives can be had, and says so once."""
        self.told = True
        derivatives = "its derivatives are exact"
        try:
            self.jet_at(arguments)
        except (TypeError, AttributeError) as error:
            self.exact = False
            derivatives = f"its derivatives are central differences, because {error}"
        message = (
            f"{self.what}: the function is called back in every evaluation, because {self.reason}; {derivatives}. "
            "What is made of arithmetic and nsm.sin, nsm.min, … without branches becomes a formula and runs 20 to 50 times faster"
        )
        warnings.warn(message, CallbackWarning, stacklevel=2)
