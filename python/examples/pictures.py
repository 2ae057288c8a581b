"""The four cells of the README as pictures: each is run as it is shown, and its plot stands below it. Needs matplotlib: `python pictures.py ../../docs`."""

import sys
import textwrap
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

CELLS = {
    "ball": """
        import nsm

        ball = nsm.System(
            coordinates=["y"], mass=[1], parameters={"g": 9.81},
            potential=lambda y, g: g*y,
            inequality={"floor": lambda y: y},
            restitution=0.7,
        )
        r = ball.run(q=[1], step=0.005, end=3.0)
        r.plot("y", ax=ax)
    """,
    "mechanism": """
        import nsm

        arm = nsm.World(gravity=[0, 0, -9.81])
        for k, name in enumerate(["upper", "lower"]):
            arm.body(name, mass=1, shape={"box": [1, 0.06, 0.06]}, position=[k + 0.5, 0, 0])
        arm.joint("revolute", ["ground", "upper"], at=[0, 0, 0], axis=[0, 1, 0])
        arm.joint("revolute", ["upper", "lower"], at=[1, 0, 0], axis=[0, 1, 0])
        r = arm.run(step=0.002, end=4.0, method="vi")
        x, z = r.bodies["lower"].position[:, [0, 2]].T
        ax.plot(x, z)
        ax.set(xlabel="x", ylabel="z", aspect="equal", title="centre of the lower bar")
    """,
    "sweep": """
        import nsm
        import numpy as np

        problem = ball.to_problem(q=[1], step=0.01, end=2.0)
        e = np.linspace(0, 1, 41)
        problem["run"][0]["vary"] = {"restitution": e}
        family = [nsm.run_member(problem, k) for k in nsm.members(problem)]
        ax.plot(e, [m["energy"]["end"] for m in family], ".-")
        ax.set(xlabel="restitution", ylabel="energy after 2 s")
    """,
    "lcp": """
        import nsm
        import numpy as np

        # A string over an obstacle: w = M z + q, w z = 0, both not below zero.
        n = 60
        x = np.linspace(-1, 1, n + 2)[1:-1]
        M = 2*np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        hill = 0.6 - 4*x**2
        s = nsm.lcp(M, M @ hill)
        ax.plot(x, hill, label="obstacle"); ax.plot(x, s.z + hill, label="string")
        ax.set(ylim=(-0.1, 0.8), title=f"residual {s.residual:.0e}"); ax.legend()
    """,
}


def main(folder):
    names = {}
    for name, cell in CELLS.items():
        code = textwrap.dedent(cell).strip()
        figure, (above, ax) = plt.subplots(
            2, 1, figsize=(7.2, 6.0), height_ratios=[1, 1.25], layout="constrained"
        )
        above.set_axis_off()
        above.text(0, 1, code, family="monospace", fontsize=9.5, va="top", transform=above.transAxes)
        names["ax"] = ax
        exec(code, names)
        figure.savefig(Path(folder) / f"python-{name}.png", dpi=90)
        plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
