"""Functions that cannot become formulas are called back, with a warning, and move the system as formulas would."""

import math
import warnings

import numpy as np
import pytest

import nsm
from nsm._callback import JETS, Jet

WHERE = dict(q=[1.0, 0.3], v=[0.0, 0.5], step=0.01, end=2.0)


def spring(x, y):
    # A spring that pulls on one side only, and a well.
    pull = x * x if x > 0 else 0.0
    return 2 * pull + 0.5 * y**2 + 0.1 * np.sin(x * y)


def test_branches_move_as_the_formula_does():
    by_text = nsm.System(["x", "y"], [1, 2], potential="2*max(x, 0)^2 + 0.5*y^2 + 0.1*sin(x*y)")
    with pytest.warns(nsm.CallbackWarning, match="potential.*branch.*exact"):
        called = nsm.System(["x", "y"], [1, 2], potential=spring).run(**WHERE)
    written = by_text.run(**WHERE)
    assert np.abs(called.samples - written.samples).max() < 1e-12
    # Midpoint needs second derivatives too.
    with pytest.warns(nsm.CallbackWarning):
        called = nsm.System(["x", "y"], [1, 2], potential=spring).run(**WHERE, method="vi", quadrature="midpoint")
    written = by_text.run(**WHERE, method="vi", quadrature="midpoint")
    assert np.abs(called.samples - written.samples).max() < 1e-10


def test_plain_numbers_are_differentiated_by_differences():
    with pytest.warns(nsm.CallbackWarning, match="central differences"):
        r = nsm.System(["x"], [1], potential=lambda x: 1 - math.cos(x)).run(q=[1.0], step=0.01, end=5.0)
    exact = nsm.System(["x"], [1], potential="1 - cos(x)").run(q=[1.0], step=0.01, end=5.0)
    assert np.abs(r["x"] - exact["x"]).max() < 1e-8


def test_gaps_and_forces_are_called_back():
    def floor(q):
        height = q[1]
        return height if q[0] < 5 else height - 1

    with pytest.warns(nsm.CallbackWarning, match="inequality.floor"):
        r = nsm.System(
            ["x", "y"], [1, 1], potential="9.81*y", inequality={"floor": floor}, restitution=0.5,
            force={"x": lambda v_x: -0.1 * v_x if v_x > 0 else 0.0},
        ).run(q=[0, 1], v=[1, 0], step=0.01, end=3.0)
    assert r.failure is None and abs(r["y"][-1]) < 1e-12 and r.event_times[0] == pytest.approx(math.sqrt(2 / 9.81), abs=1e-9)


def test_steps_one_by_one_and_what_functions_raise():
    def falls(y):
        if y < 0.5:
            raise LookupError("no ground below one half")
        return 9.81 * y

    with pytest.warns(nsm.CallbackWarning):
        system = nsm.System(["y"], [1], potential=falls)
        sim = system.simulate(q=[1.0], step=0.01)
        with pytest.raises(LookupError, match="no ground"):
            sim.step(100)
        assert 0.5 < sim.q[0] < 0.6
        with pytest.raises(LookupError) as info:
            system.run(q=[1.0], step=0.01, end=2.0)
    assert 0.5 < info.value.results.only["y"][-1] < 0.6


def test_mistakes_are_raised_at_once():
    with pytest.raises(NameError):
        nsm.System(["x"], [1], potential=lambda x: x * undefined)  # noqa: F821
    with pytest.raises(ZeroDivisionError):
        nsm.System(["x"], [1], potential=lambda x: 1 / 0 if x > 0 else x).run(q=[1], step=0.1, end=1)
    system = nsm.System(["x"], [1], potential=lambda x: x if x > 0 else -x)
    with pytest.raises(TypeError, match="other processes"):
        nsm.members(system.to_problem(q=[1], step=0.1, end=1))


def test_traced_functions_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nsm.System(["x"], [1], potential=lambda x: nsm.abs(x) + np.exp(-x)).run(q=[1], step=0.1, end=1)


@pytest.mark.parametrize("name", sorted(set(JETS) - {"floor", "less", "less_equal", "greater", "greater_equal", "min", "max"}))
def test_jets_against_differences(name):
    f = JETS[name]
    x, h = np.array([0.43, 0.78]), 1e-4
    two = name in {"add", "subtract", "multiply", "divide", "true_divide", "power", "arctan2", "atan2", "hypot", "minimum", "maximum"}

    def at(*x):
        inner = (x[0] * x[1], x[0] + x[1] ** 2)
        return f(*inner) if two else f(inner[0])

    jet = at(*(Jet(x[i], np.eye(2)[i], np.zeros((2, 2))) for i in range(2)))
    unit = h * np.eye(2)
    assert jet.value == pytest.approx(float(at(*x)), rel=1e-15)
    for i in range(2):
        slope = (at(*(x + unit[i])) - at(*(x - unit[i]))) / (2 * h)
        assert jet.first[i] == pytest.approx(float(slope), abs=1e-6)
        for j in range(2):
            bend = sum(s * at(*(x + a * unit[i] + b * unit[j])) for s, a, b in [(1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1)]) / (4 * h * h)
            assert jet.second[i, j] == pytest.approx(float(bend), abs=1e-5)
