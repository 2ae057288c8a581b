"""Writes dicts as TOML: what a problem file can say, nested tables as inline ones."""

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real


def dumps(table):
    """The text of a table, one key a line."""
    return "".join(f"{key(k)} = {value(v)}\n" for k, v in table.items() if v is not None)


def key(name):
    return json.dumps(str(name), ensure_ascii=False)


def value(x):
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, str):
        return json.dumps(x, ensure_ascii=False)
    if isinstance(x, Integral):
        return str(int(x))
    if isinstance(x, Real):
        x = float(x)
        if math.isnan(x):
            return "nan"
        if math.isinf(x):
            return "inf" if x > 0 else "-inf"
        return repr(x)
    if isinstance(x, Mapping):
        return "{ " + ", ".join(f"{key(k)} = {value(v)}" for k, v in x.items() if v is not None) + " }"
    if hasattr(x, "formula"):
        return value(x.formula)
    if hasattr(x, "tolist"):
        return value(x.tolist())
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(value(v) for v in x) + "]"
    raise TypeError(f"a problem file cannot hold a {type(x).__name__}: {x!r}")
