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
    M, q = dense(M), np.asarray(q, dtype=float).ravel()
    if M.shape != (q.size, q.size):
        raise ValueError(f"M has the shape {M.shape}, q the length {q.size}")
    return LcpSolution(**_native.lcp(M.ravel().tolist(), q.tolist()))


def nnls(A, b):
    """Minimises |A x - b| over x >= 0."""
    A = A if hasattr(A, "toarray") else np.asarray(A, dtype=float)
    b = np.asarray(b, dtype=float).ravel()
    if A.ndim != 2 or A.shape[0] != b.size:
        raise ValueError(f"A has the shape {A.shape}, b the length {b.size}")
    return _native.nnls(dense(A.T @ A).ravel().tolist(), np.asarray(A.T @ b).ravel().tolist())


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
