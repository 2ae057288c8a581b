"""A walk through nsm in Python: a ball, a mechanism, a sweep, a complementarity problem. Run as a script or cell by cell; every claim is asserted."""

# %% A ball with restitution 1/2 comes to rest
import numpy as np

import nsm

ball = nsm.System(
    coordinates=["y"],
    mass=[1],
    parameters={"g": 9.81},
    potential=lambda y, g: g * y,
    inequality={"floor": lambda y: y},
    restitution=0.5,
)
r = ball.run(q=[1], step=0.01, end=3.0)
print(r)
# The first bounce is at sqrt(2/g), and the bounces are over at 3 sqrt(2/g).
assert abs(r.event_times[0] - np.sqrt(2 / 9.81)) < 1e-12
assert np.all(np.abs(r["y"][r.t > 3 * np.sqrt(2 / 9.81)]) < 1e-15)

# %% Steps one by one: a controller of your own
sim = nsm.System(["x"], [1], force={"x": "0"}).simulate(q=[1], v=[0], step=0.01, method="vi")
for _ in range(300):
    # A push of our own between steps.
    sim.set(sim.q, sim.v + 0.01 * (-4 * sim.q - 4 * sim.v), sim.t).step()
assert abs(sim.q[0]) < 0.05

# %% A mechanism: a bar on a hinge over a floor
world = nsm.World(gravity=[0, 0, -9.81], restitution=0.3, friction=0.5)
world.body("bar", mass=1, shape={"box": [1, 0.05, 0.05]}, position=[0.5, 0, 0.4])
world.joint("revolute", ["ground", "bar"], name="hinge", at=[0, 0, 0.4], axis=[0, 1, 0])
world.plane("floor")
r = world.run(step=0.005, end=3.0)
print(r, r.ledger["penetration"])
assert r.ledger["penetration"] < 1e-9
assert np.allclose(np.linalg.norm(r.bodies["bar"].position - [0, 0, 0.4], axis=1), 0.5, atol=1e-9)

# %% A sweep: the share of energy that two bounces leave is e^4
problem = ball.to_problem(q=[1], step=0.01, end=1.2)
problem["run"][0]["vary"] = {"restitution": [0.7, 0.8, 0.9]}
family = nsm.run(problem)["run"]
for e, member in zip([0.7, 0.8, 0.9], family):
    left = member.ledger["energy"]["end"] / 9.81
    bounces = len(member.event_times)
    print(f"e = {e}: {bounces} bounces, {left:.4f} of the energy left")
    assert abs(left - e ** (2 * bounces)) < 1e-9

# %% A linear complementarity problem
solution = nsm.lcp([[2, -1], [-1, 2]], [1, -3])
print(solution.z, solution.w)
assert np.allclose(solution.z, [1 / 3, 5 / 3])
assert np.all(solution.z >= 0) and np.all(solution.w >= -1e-12) and abs(solution.z @ solution.w) < 1e-12
