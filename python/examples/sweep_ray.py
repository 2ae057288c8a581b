"""A family over a Ray cluster: 64 balls, each built and run by the worker that gets it."""

import ray

import nsm

PROBLEM = """
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


@ray.remote
def member(problem, k):
    return nsm.run_member(problem, k)


def sweep(problem=PROBLEM):
    """The results of all members, in their order."""
    return ray.get([member.remote(problem, k) for k in nsm.members(problem)])


if __name__ == "__main__":
    # Of a cluster that runs: ray.init(address="auto").
    ray.init(num_cpus=2, include_dashboard=False)
    for k, result in enumerate(sweep()):
        print(k, result["final"]["q"], result["energy"]["end"])
    ray.shutdown()
