"""The Python package: against the command line, closed forms, and what a user does wrong."""

import json
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import nsm

BALL = """
title = "Ball"
[system]
coordinates = ["y"]
mass        = [1]
potential   = "9.8*y"
inequality  = { floor = "y" }
[start]
q = [1]
[[run]]
name = "ball"
step = 0.01
end  = 3.0
restitution = 0.5
"""


def binary():
    """The command line of the same tree, if it has been built."""
    root = Path(__file__).parents[2]
    for place in (os.environ.get("NSM_BINARY"), root / "target/release/nsm", root / "target/debug/nsm"):
        if place and Path(place).is_file():
            return str(place)
    return None


def test_a_run_gives_numpy_columns_events_and_the_ledger():
    r = nsm.run(BALL)["ball"]
    assert r.method == "svci" and r.failure is None and r.warnings == []
    assert r.t.dtype == np.float64 and r.t[0] == 0 and r.t[-1] == 3.0 and len(r) == len(r.t)
    assert abs(r.events[0]["t"] - np.sqrt(2 / 9.8)) < 1e-12
    assert abs(r["y"][-1]) < 1e-15 and r.energy[0] == 9.8
    assert r.ledger["events"] == len(r.event_times)
    assert "complete" in repr(r)
    assert r.to_dict()["columns"]["y"] == r["y"].tolist()
    with pytest.raises(KeyError, match="did you mean 'v_y'"):
        r["v_yy"]


def test_the_same_problem_as_text_path_and_dict_gives_the_same_bits(tmp_path):
    file = tmp_path / "ball.toml"
    file.write_text(BALL)
    as_dict = {
        "title": "Ball",
        "system": {"coordinates": ["y"], "mass": [1], "potential": "9.8*y", "inequality": {"floor": "y"}},
        "start": {"q": np.array([1.0])},
        "run": [{"name": "ball", "step": 0.01, "end": 3.0, "restitution": 0.5}],
    }
    text, path, made = (nsm.run(p)["ball"].samples for p in (BALL, file, as_dict))
    assert np.array_equal(text, path) and np.array_equal(text, made)
    assert np.array_equal(text, nsm.run(str(file))["ball"].samples)


def test_results_agree_with_the_command_line_to_the_bit(tmp_path):
    nsm_binary = binary()
    if nsm_binary is None:
        pytest.skip("SKIPPED: the binary `nsm` has not been built")
    file = tmp_path / "ball.toml"
    file.write_text(BALL)
    told = subprocess.run([nsm_binary, "run", file, "--out", tmp_path, "--json"], capture_output=True, check=True)
    told = json.loads(told.stdout)["runs"]["ball"]
    ours = nsm.run(BALL)["ball"].ledger
    for key in ("final", "energy", "event_times", "event_records", "steps", "penetration"):
        assert ours[key] == told[key], key


def test_functions_are_traced_into_formulas():
    params = {"g": 9.81, "l": 1.0}
    options = dict(coordinates=["x", "y"], mass=[1, 1], parameters=params)
    by_text = nsm.System(
        potential="g*y", equality={"rod": "sqrt(x^2 + y^2) - l"}, invariants={"L": "x*p_y - y*p_x"}, **options
    )
    by_function = nsm.System(
        potential=lambda y, g: g * y,
        equality={"rod": lambda x, y, l: np.sqrt(x**2 + y**2) - l},
        invariants={"L": lambda x, y, p_x, p_y: x * p_y - y * p_x},
        **options,
    )
    runs = [s.run(q=[1, 0], step=0.01, end=2.0) for s in (by_text, by_function)]
    assert np.array_equal(runs[0].samples, runs[1].samples)
    assert abs(runs[0].energy.max() - runs[0].energy.min()) < 1e-2

    with pytest.raises(TypeError, match="asks for `z`"):
        nsm.System(["x"], [1], potential=lambda z: z)
    assert nsm.System(["x"], [1], potential=lambda q: nsm.abs(q[0]) + np.maximum(q[0], 2))
    assert nsm.sin(0.5) == np.sin(0.5)


def test_steps_one_by_one_are_those_of_a_run():
    system = nsm.System(["y"], [1], potential="9.8*y", inequality={"floor": "y"}, restitution=0.5)
    sim = system.simulate(q=[1], step=0.01, method="svci")
    whole = system.run(q=[1], step=0.01, end=1.0, method="svci")
    sim.step(40).step(60)
    assert sim.t == 1.0 and sim.q[0] == whole["y"][-1] and sim.v[0] == whole["v_y"][-1]
    assert sim.events == len(whole.event_times)
    assert sim.state["y"] == sim.q[0]
    sim.set(q=[2.0], v=[0.0], t=0.0).step(10)
    assert abs(sim.q[0] - (2 - 0.5 * 9.8 * 0.01)) < 1e-12
    with pytest.raises(nsm.ProblemError, match="2 positions"):
        sim.set(q=[1, 2], v=[0, 0])
    with pytest.raises(nsm.ProblemError, match="finite"):
        sim.set(q=[float("nan")], v=[0])


def test_worlds_of_bodies_and_joints():
    world = nsm.World(gravity=[0, 0, -9.81], restitution=0.5, friction=0.3)
    world.body("box", mass=1, shape={"box": [0.4, 0.3, 0.2]}, position=[0, 0, 0.5]).plane("floor")
    r = world.run(step=0.01, end=2.0)
    box = r.bodies["box"]
    assert box.position.shape == (len(r), 3) and box.rotation.shape == (len(r), 3, 3)
    assert abs(box.position[-1, 2] - 0.1) < 1e-9 and np.allclose(box.momentum[-1], 0, atol=1e-9)
    assert box.angular_momentum.shape == (len(r), 3)

    arm = nsm.World(gravity=[0, 0, -9.81])
    arm.body("arm", mass=1, inertia=[0.1, 0.1, 0.1], position=[0.5, 0, 0])
    arm.joint("revolute", ["ground", "arm"], name="hinge", at=[0, 0, 0], axis=[0, 1, 0])
    r = arm.run(step=0.01, end=0.5, method="vi")
    assert np.allclose(np.linalg.norm(r.bodies["arm"].position, axis=1), 0.5, atol=1e-10)
    assert np.allclose(np.linalg.det(r.bodies["arm"].rotation), 1, atol=1e-9)
    assert any("hinge" in name for name in r.reactions)
    sim = arm.simulate(step=0.01, method="vi").step(50)
    assert abs(sim.state["arm.x"] - r["arm.x"][-1]) == 0


def test_free_bodies_step_by_step_are_those_of_a_run():
    world = nsm.World(gravity=[0, 0, -9.81], restitution=0.5, friction=0.3)
    world.body("box", mass=1, shape={"box": [0.4, 0.3, 0.2]}, position=[0, 0, 0.5], velocity=[1, 0, 0]).plane("floor")
    r = world.run(step=0.01, end=1.0)
    sim = world.simulate(step=0.01).step(30).step(70)
    assert sim.t == r.t[-1] and sim.events == len(r.event_times) > 0
    assert np.array_equal(sim.bodies["box"]["position"], r.bodies["box"].position[-1])
    assert np.array_equal(sim.bodies["box"]["rotation"], r.bodies["box"].rotation[-1])
    assert sim.state["box_px"] == r["box_px"][-1]
    # Thrown up anew: 10 m/s, after 0.1 s.
    sim.set(bodies={"box": {"position": [0, 0, 5], "momentum": [0, 0, 10]}}, t=0.0).step(10)
    assert abs(sim.bodies["box"]["position"][2] - (5 + 1 - 0.5 * 9.81 * 0.01)) < 1e-9
    with pytest.raises(AttributeError, match="bodies"):
        sim.q
    with pytest.raises(KeyError, match="known: box"):
        sim.set(bodies={"bax": {}})
    with pytest.raises(TypeError, match="bodies"):
        sim.set(q=[1], v=[1])
    with pytest.raises(nsm.ProblemError, match="lgvci"):
        world.simulate(step=0.01, method="moreau-jean")


def test_errors_keep_the_key_and_name_what_would_be_right():
    with pytest.raises(nsm.ProblemError, match="did you mean `potential`") as caught:
        nsm.run(BALL.replace("potential ", "potental "))
    assert caught.value.key.startswith("system") and caught.value.line == 6
    with pytest.raises(nsm.ProblemError):
        nsm.run("no/such/file.toml")
    with pytest.raises(KeyError, match="known: ball"):
        nsm.run(BALL, runs=["bal"])
    with pytest.raises(TypeError, match="a problem is TOML text"):
        nsm.run(3)
    with pytest.raises(TypeError, match="cannot hold a set"):
        nsm.run({"run": {1, 2}})
    assert isinstance(nsm.ProblemError("x"), ValueError)


def test_a_failed_run_is_a_result_that_keeps_what_was_computed():
    text = BALL.replace('"9.8*y"', '"9.8*y + 0*t - log(2.5 - t)*1e-3"')
    r = nsm.run(text)["ball"]
    assert r.failure and 0 < len(r) and r.t[-1] < 2.6


def test_families_are_lists_and_members_map_over_processes():
    text = BALL.replace("restitution = 0.5", "vary = { restitution = [0, 0.25, 0.5, 0.75] }")
    family = nsm.run(text)["ball"]
    assert [len(r.event_times) > 0 for r in family] == [True] * 4
    assert list(nsm.members(text)) == [0, 1, 2, 3]
    with ProcessPoolExecutor(2) as pool:
        mapped = list(pool.map(nsm.run_member, [text] * 4, nsm.members(text)))
    for one, other in zip(family, mapped):
        assert other["columns"]["y"] == one["y"].tolist() and other["final"] == one.final


def test_threads_run_beside_each_other():
    found = [None] * 4

    def work(k):
        found[k] = nsm.run(BALL)["ball"].samples

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(np.array_equal(f, found[0]) for f in found)


def test_ctrl_c_stops_a_run_and_keeps_what_was_computed():
    long = BALL.replace("end  = 3.0", "end  = 1e7")
    # A shell starts what runs in its background with the interrupt ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        nsm.run(long)
    assert time.monotonic() - begin < 20
    partial = caught.value.results["ball"]
    assert partial.interrupted and len(partial) > 0


def test_progress_may_raise_and_is_told_the_share():
    text = BALL.replace("end  = 3.0", "end  = 100.0")
    shares = []
    problem = nsm._native.Problem.parse(text)
    result, raised = problem.execute(0, shares.append)
    assert raised is None and shares == sorted(shares) and len(shares) > 10

    def refuse(_):
        raise RuntimeError("enough")

    result, raised = problem.execute(0, refuse)
    assert isinstance(raised, RuntimeError) and result.interrupted


def test_solvers():
    s = nsm.lcp([[2, 1], [1, 2]], [-5, -6])
    assert np.allclose(s.z, [4 / 3, 7 / 3]) and np.allclose(s.w, 0) and s.residual < 1e-14
    # Unsymmetric, rows: w1 = z1 + 2 z2 - 1, w2 = z2 - 1.
    s = nsm.lcp([[1, 2], [0, 1]], [-1, -1])
    assert np.allclose(s.z, [0, 1]) and np.allclose(s.w, [1, 0])
    with pytest.raises(nsm.SolverError):
        nsm.lcp([[0.0]], [-1.0])
    with pytest.raises(ValueError, match="shape"):
        nsm.lcp(np.eye(3), [1, 2])
    with pytest.raises(nsm.SolverError):
        nsm.lcp([[np.nan]], [1.0])
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(8, 5)), rng.normal(size=8)
    s = nsm.nnls(A, b)
    x = s.x
    assert np.allclose(s.dual, A.T @ (A @ x - b), atol=1e-14) and s.residual < 1e-13 and s.active == np.flatnonzero(x).tolist()
    g = A.T @ (A @ x - b)
    assert (x >= 0).all() and (g > -1e-12).all() and abs(x @ g) < 1e-12
    f = nsm.friction(np.diag([1.0, 1, 1]), [-1, 0.5, 0], 0.3)
    assert np.allclose(f.r, [[1, -0.3, 0]]) and np.allclose(f.u, [[0, 0.2, 0]]) and f.energy_change <= 0


def test_nnls_of_a_badly_conditioned_matrix():
    # Columns that differ by 1e-5: the square of the condition number, 1e10, would leave six digits.
    rng = np.random.default_rng(2)
    A = rng.normal(size=(12, 1)) + 1e-5 * rng.normal(size=(12, 3))
    exact = np.array([1.0, 2.0, 3.0])
    s = nsm.nnls(A, A @ exact)
    assert np.abs(s.x - exact).max() < 1e-9 and s.residual < 1e-14
    s = nsm.nnls(A * [1e6, 1, 1e-6], A @ exact)
    assert np.abs(s.x * [1e6, 1, 1e-6] - exact).max() < 1e-9


def test_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    n = 50
    M = sparse.diags([np.full(n, 4.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], [0, -1, 1], format="csr")
    q = np.linspace(-1, 1, n)
    s = nsm.lcp(M, q)
    w = M @ s.z + q
    assert (s.z >= 0).all() and (w > -1e-12).all() and abs(s.z @ w) < 1e-12
    W = sparse.block_diag([np.eye(3)] * 4, format="csc")
    f = nsm.friction(W, np.tile([-1.0, 0, 0], 4), [0.1, 0.2, 0.3, 0])
    assert np.allclose(f.r[:, 0], 1)


def test_pandas_plots_and_pages():
    r = nsm.run(BALL)["ball"]
    page = r.page()
    assert page.startswith("<!") and "Ball" in page and "iframe" in r._repr_html_()
    if _has("pandas"):
        assert list(r.to_pandas()["y"]) == r["y"].tolist()
    if _has("matplotlib"):
        import matplotlib

        matplotlib.use("Agg")
        assert len(r.plot("y", "E").lines) == 2


def _has(module):
    import importlib.util

    return importlib.util.find_spec(module) is not None


def test_expectations_are_judged():
    text = BALL + '[[expect]]\ncheck = "energy.max < 9.9"\n[[expect]]\ncheck = "events == 0"\n'
    results = nsm.run(text)
    assert [v["holds"] for v in results.verdicts()] == [True, False]
    assert results.only.name == "ball" and len(results.all) == 1
