"""Complementarity problems, non-negative least squares and friction problems, for dense arrays and SciPy's sparse matrices."""

from dataclasses import dataclass

import numpy as np

from . import _native


@dataclass(frozen=True)
class LcpSolution:
    """``z >= 0``, ``w = M z + q >= 0``, ``z.w = 0``; ``active`` are the indices with z_i > w_i, ``residual`` is max|min(z, w)| over max|q|."""

    z: np.ndarray
    w: np.ndarray
    active: list
    residual: float
    report: str


@dataclass(frozen=True)
class NnlsSolution:
    """``x >= 0``; ``dual`` = A'(A x - b) >= 0, zero where x is positive (``active``); ``norm`` = |A x - b|; ``residual`` is how far these conditions are from holding."""

    x: np.ndarray
    dual: np.ndarray
    active: list
    norm: float
    residual: float


@dataclass(frozen=True)
class FrictionSolution:
    """Impulses ``r`` and velocities ``u`` (n x 3, normal first), the scale-free ``residual``, the ``stage`` that solved it, and the energy it adds (never positive)."""

    r: np.ndarray
    u: np.ndarray
    residual: float
    stage: str
    iterations: int
    energy_change: float


def dense(matrix):
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)


def lcp(M, q):
    """Solves the linear complementarity problem: z >= 0, w = M z + q >= 0, z.w = 0.

    Raises ``nsm.SolverError`` where there is no solution or none was found; a solution that is returned satisfies its conditions.
    """
    q = np.asarray(q, dtype=float).ravel()
    M = M.tocsc() if hasattr(M, "tocsc") else np.asarray(M, dtype=float)
    if M.shape != (q.size, q.size):
        raise ValueError(f"M has the shape {M.shape}, q the length {q.size}")
    if hasattr(M, "indptr"):
        M.sum_duplicates()
        columns = (M.indptr.tolist(), M.indices.tolist(), M.data.astype(float).tolist())
        return LcpSolution(**_native.lcp(q.tolist(), columns=columns))
    return LcpSolution(**_native.lcp(q.tolist(), rows=M.ravel().tolist()))


def nnls(A, b):
    """Minimises |A x - b| over x >= 0.

    A guess comes from the normal equations; what is returned from columns of A itself (Lawson and Hanson's exchange), so that its error grows with the
    condition number and not with its square. Raises ``nsm.SolverError`` where the conditions of a minimum do not hold for what was found.
    """
    A = dense(A)
    b = np.asarray(b, dtype=float).ravel()
    if A.ndim != 2 or A.shape[0] != b.size:
        raise ValueError(f"A has the shape {A.shape}, b the length {b.size}")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise ValueError("A and b are made of finite numbers")
    # Columns of length one: what is positive does not depend on units.
    lengths = np.linalg.norm(A, axis=0)
    lengths[lengths == 0] = 1
    unit = A / lengths
    guess = _native.nnls((unit.T @ unit).ravel().tolist(), (unit.T @ b).tolist())
    y = _exchange(unit, b, np.asarray(guess))
    violation, x = _violation(unit, b, y), y / lengths
    if violation > 1e-9:
        error = _native.SolverError(f"the conditions of a minimum hold to {violation:.1e} of |b| only")
        error.best = x
        raise error
    residual = b - A @ x
    return NnlsSolution(x=x, dual=-(A.T @ residual), active=np.flatnonzero(x).tolist(), norm=float(np.linalg.norm(residual)), residual=violation)


def _exchange(A, b, x):
    """Lawson and Hanson's method from a feasible guess; the columns of A have length one."""
    rounding = 10 * max(A.shape) * np.finfo(float).eps * np.linalg.norm(b)
    positive = x > 0
    for _ in range(3 * x.size + 3):
        while positive.any():
            z = np.zeros_like(x)
            z[positive] = np.linalg.lstsq(A[:, positive], b, rcond=None)[0]
            falls = positive & (z <= 0)
            if not falls.any():
                x = z
                break
            share = (x[falls] / (x[falls] - z[falls])).min()
            x = np.maximum(x + share * (z - x), 0)
            x[falls & (x <= rounding)] = 0
            positive &= x > 0
        gain = np.where(positive, -np.inf, A.T @ (b - A @ x))
        if x.size == 0 or gain.max() <= rounding:
            break
        positive[gain.argmax()] = True
    return x


def _violation(A, b, x):
    """How far x >= 0, A'(A x - b) >= 0 and their complementarity are from holding, relative to b."""
    gradient = A.T @ (A @ x - b)
    scale = np.linalg.norm(b)
    return float(np.abs(np.minimum(x, gradient)).max(initial=0.0) / scale) if scale > 0 else float(np.abs(x).max(initial=0.0))


def friction(W, q, mu, start=None):
    """Solves a friction problem with the exact cone of Coulomb: u = W r + q, r in the cone, u by the law; contact frames are (normal, tangent, tangent).

    ``mu`` is one coefficient, or one a contact. ``start`` is a guess of r. Raises ``nsm.SolverError`` with the ``best`` impulses where none was found.
    """
    q = np.asarray(q, dtype=float).ravel()
    if q.size % 3:
        raise ValueError(f"three entries a contact, here are {q.size}")
    mu = np.broadcast_to(np.asarray(mu, dtype=float), (q.size // 3,))
    W = W if hasattr(W, "tocoo") else np.asarray(W, dtype=float)
    if W.shape != (q.size, q.size):
        raise ValueError(f"W has the shape {W.shape}, q the length {q.size}")
    if hasattr(W, "tocoo"):
        coo = W.tocoo()
        entries = (coo.row.tolist(), coo.col.tolist(), coo.data.astype(float).tolist())
    else:
        rows, columns = np.nonzero(W)
        entries = (rows.tolist(), columns.tolist(), W[rows, columns].tolist())
    guess = np.zeros(q.size) if start is None else np.asarray(start, dtype=float).ravel()
    if guess.size != q.size:
        raise ValueError(f"the start has the length {guess.size}, q {q.size}")
    found = _native.friction(entries, q.tolist(), mu.tolist(), guess.tolist())
    r = found.pop("r")
    u = np.asarray(W @ r).ravel() + q
    return FrictionSolution(r=r.reshape(-1, 3), u=u.reshape(-1, 3), **found)
