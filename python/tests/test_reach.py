"""Families over processes and clusters, and files that other tools read: equal to the bit, or a loud skip."""

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nsm
from test_nsm import BALL, binary

EXAMPLES = Path(__file__).parents[1] / "examples"
FAMILY = """
[system]
coordinates = ["y"]
mass        = [1]
potential   = "9.81*y"
inequality  = { floor = "y" }
[start]
q = [1]
[[run]]
name = "balls"
step = 0.01
end  = 3.0
vary = { "start.q[0]" = { from = 0.5, to = 2.0, count = 64 }, restitution = { from = 0.0, to = 1.0, count = 64 } }
"""


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"SKIPPED: {module} is not installed")


def program():
    found = binary()
    if found is None:
        pytest.skip("SKIPPED: the binary `nsm` has not been built")
    return found


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # Workers of other processes find it by its name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def essence(result):
    """What does not depend on the clock."""
    return {k: v for k, v in result.items() if k != "seconds"}


@pytest.fixture(scope="module")
def alone():
    return [essence(nsm.run_member(FAMILY, k)) for k in nsm.members(FAMILY)]


def test_members_are_built_alone_and_equal_those_of_the_family(alone):
    family = nsm.run(FAMILY)["balls"]
    assert len(alone) == len(family) == 64
    for k, (one, other) in enumerate(zip(alone, family)):
        assert one == essence(other.to_dict()), k
        assert one["varied"][0]["value"] == 0.5 + 1.5 * k / 63
    # A family of any length costs nothing until its members are asked for.
    long = FAMILY.replace("count = 64", "count = 900000")
    assert len(nsm.members(long)) == 900_000
    assert nsm.run_member(long, 899_999)["varied"][1]["value"] == 1.0
    with pytest.raises(nsm.ProblemError, match="64 runs"):
        nsm.run_member(FAMILY, 64)
    with pytest.raises(nsm.ProblemError, match="did you mean"):
        nsm.members(FAMILY.replace("start.q[0]", "strat.q[0]"))


def test_parts_of_a_sweep_equal_one_process(alone, tmp_path):
    file = tmp_path / "family.toml"
    file.write_text(FAMILY)
    for part in range(1, 5):
        subprocess.run([program(), "sweep", file, "--out", tmp_path, "--part", f"{part}/4"], check=True, capture_output=True)
    subprocess.run([program(), "merge", file, "--out", tmp_path], check=True, capture_output=True)
    with open(tmp_path / "family/balls-sweep.csv") as table:
        rows = list(csv.DictReader(table))
    assert [int(r["member"]) for r in rows] == list(range(64))
    for row, one in zip(rows, alone):
        assert float(row["final.q[0]"]) == one["final"]["q"][0]
        assert float(row["final.v[0]"]) == one["final"]["v"][0]
        assert float(row["energy.end"]) == one["energy"]["end"] and int(row["events"]) == one["events"]


def test_dask_equals_one_process(alone):
    needs("distributed")
    from dask.distributed import Client, LocalCluster

    sweep = example("sweep_dask").sweep
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        mapped = sweep(client, FAMILY)
    assert [essence(r) for r in mapped] == alone


def test_ray_equals_one_process(alone):
    needs("ray")
    import ray

    module = example("sweep_ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(EXAMPLES)}})
    try:
        assert [essence(r) for r in module.sweep(FAMILY)] == alone
    finally:
        ray.shutdown()


BODIES = """
gravity = [0, 0, -9.81]
restitution = 0.5
friction = 0.3
[[body]]
name = "box"
mass = 2
shape = { box = [0.4, 0.3, 0.2] }
position = [0, 0, 0.5]
velocity = [1, 0, 0]
angular_velocity = [1, 2, 3]
[[body]]
name = "ball"
mass = 1
shape = { sphere = 0.1 }
position = [0.3, 0, 1.5]
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[run]]
name = "fall"
step = 0.01
end  = 1.0
samples = 20
"""


BAR = """
gravity = [0, 0, -9.81]
restitution = 0.3
[[plane]]
name = "floor"
normal = [0, 0, 1]
[[body]]
name = "bar"
mass = 1
shape = { box = [1, 0.05, 0.05] }
position = [0.5, 0, 0.4]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["ground", "bar"]
at = [0, 0, 0.4]
axis = [0, 1, 0]
[[run]]
name = "bar"
step = 0.005
end = 2.0
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    file = folder / "bodies.toml"
    file.write_text(BODIES)
    subprocess.run([program(), "run", file, "--out", folder, "--format", "npz,parquet,vtk"], check=True, capture_output=True)
    return folder / "bodies"


def test_npz_is_what_numpy_reads(files):
    ours = nsm.run(BODIES)["fall"]
    with np.load(files / "fall.npz") as archive:
        assert archive["columns"].tolist() == list(ours.columns)
        assert np.array_equal(archive["samples"], ours.samples)
        assert np.array_equal(archive["event_times"], ours.event_times)
        assert archive["event_contacts"][0] == ";".join(ours.events[0]["contacts"])
        assert archive["event_states"].shape == (len(ours.events), len(archive["state_columns"]))


def test_parquet_is_what_pyarrow_reads(files, tmp_path):
    needs("pyarrow")
    import pyarrow.parquet

    ours = nsm.run(BODIES)["fall"]
    table = pyarrow.parquet.read_table(files / "fall.parquet")
    assert table.column_names == list(ours.columns)
    assert all(np.array_equal(table[name].to_numpy(), ours[name]) for name in ours.columns)
    events = pyarrow.parquet.read_table(files / "fall-events.parquet")
    assert events["t"].to_pylist() == [e["t"] for e in ours.events]
    assert events["contacts"].to_pylist() == [";".join(e["contacts"]) for e in ours.events]

    file = tmp_path / "family.toml"
    file.write_text(FAMILY.replace('"start.q[0]" = { from = 0.5, to = 2.0, count = 64 }', '"start.q[0]" = [1, -1, 2]')
                    .replace("restitution = { from = 0.0, to = 1.0, count = 64 }", "method = ['svci', 'svci', 'svci']"))
    subprocess.run([program(), "sweep", file, "--out", tmp_path, "--format", "parquet"], capture_output=True)
    table = pyarrow.parquet.read_table(tmp_path / "family/balls-sweep.parquet")
    assert table["failed"].to_pylist() == [False, True, False] and table["member"].to_pylist() == [0, 1, 2]
    assert table["energy.end"][1].as_py() is None and "floor" in table["failure"][1].as_py()
    assert table["start.q[0]"].to_pylist() == [1, -1, 2] and table["method"].to_pylist() == ["svci"] * 3


def test_vtk_is_what_paraview_reads(files):
    needs("pyvista")
    import pyvista

    ours = nsm.run(BODIES)["fall"]
    reader = pyvista.get_reader(files / "fall.pvd")
    assert np.array_equal(reader.time_values, ours.t)
    box, h = ours.bodies["box"], 1e-6
    inertia = 2 / 12 * np.array([0.3**2 + 0.2**2, 0.4**2 + 0.2**2, 0.4**2 + 0.3**2])
    for k in range(len(ours)):
        reader.set_active_time_point(k)
        mesh = reader.read()[0]
        assert mesh.is_all_triangles is False and set(mesh["part"]) == {0, 1}
        # The eight corners, and their velocities v + R (Omega x X).
        corners = (np.asarray(mesh.points[:8], dtype=float) - box.position[k]) @ box.rotation[k]
        assert np.allclose(np.abs(corners), [0.2, 0.15, 0.1], atol=1e-6)
        spin = box.angular_momentum[k] / inertia
        velocity = box.momentum[k] / 2 + np.cross(spin, corners) @ box.rotation[k].T
        assert np.allclose(mesh["velocity"][:8], velocity, atol=1e-5)
    contacts = pyvista.get_reader(files / "fall-contacts.pvd")
    seen = 0
    for k in range(len(ours)):
        contacts.set_active_time_point(k)
        points = contacts.read()[0]
        seen += points.n_points
        if points.n_points:
            assert np.allclose(np.linalg.norm(points["normal"], axis=1), 1)
            # Coulomb's cone.
            along = np.sum(points["normal"] * points["impulse"], axis=1)
            across = np.linalg.norm(np.cross(points["normal"], points["impulse"]), axis=1)
            assert np.all(along > 0) and np.all(across <= 0.3 * along * (1 + 1e-9))
        seen -= int(points["held"].sum()) if points.n_points else 0
    assert seen == sum(len(e["contacts"]) for e in ours.events) > 0


def test_vtk_holds_the_forces_of_mechanisms(tmp_path):
    needs("pyvista")
    import pyvista

    file = tmp_path / "bar.toml"
    file.write_text(BAR)
    subprocess.run([program(), "run", file, "--out", tmp_path, "--format", "vtk"], check=True, capture_output=True)
    reader = pyvista.get_reader(tmp_path / "bar/bar-contacts.pvd")
    reader.set_active_time_point(len(reader.time_values) - 1)
    touches = reader.read()[0]
    assert touches.n_points == 2 and np.all(touches["held"] == 1)
    # The moment of the weight about the hinge is that of the two forces.
    r = nsm.run(BAR)["bar"]
    x = r.bodies["bar"].position[-1][0]
    assert np.isclose(np.sum(touches.points[:, 0] * touches["force"][:, 2]), 9.81 * x, rtol=1e-6)
    assert np.allclose(touches.points[:, 2], 0, atol=1e-9)


def test_pandas_matplotlib_and_tqdm():
    r = nsm.run(BALL)["ball"]
    missing = [m for m in ("pandas", "matplotlib", "tqdm") if importlib.util.find_spec(m) is None]
    if "pandas" not in missing:
        frame = r.to_pandas()
        assert [frame.index.name, *frame.columns] == list(r.columns) and np.array_equal(frame["y"], r["y"])
    if "matplotlib" not in missing:
        import matplotlib

        matplotlib.use("Agg")
        assert len(r.plot("y", "E").lines) == 2
    if "tqdm" not in missing:
        nsm.run(BALL.replace("end  = 3.0", "end  = 100.0"), progress=True)
    if missing:
        pytest.skip(f"SKIPPED: {', '.join(missing)} not installed")
