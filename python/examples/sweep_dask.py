"""A family over a Dask cluster: 64 balls, each built and run by the worker that gets it. Give the address of a scheduler, or none for a local one."""

import sys

from dask.distributed import Client, LocalCluster

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


def sweep(client, problem=PROBLEM):
    """The results of all members, in their order."""
    futures = client.map(lambda k: nsm.run_member(problem, k), nsm.members(problem))
    return client.gather(futures)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        client = Client(sys.argv[1])
    else:
        client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
    with client:
        for k, result in enumerate(sweep(client)):
            print(k, result["final"]["q"], result["energy"]["end"])
