"""Explicit Gibbs-Appell equations: n equations in the n tree accelerations, no multipliers.

With the columns parted into dependent (e) and independent (i) ones, A_e square, X = A_e⁻¹ A_i:

    (M_ii + Xᵀ M_ee X - M_ie X - Xᵀ M_ei) v̇_i = f_i - Xᵀ f_e + (Xᵀ M_ee - M_ie) A_e⁻¹ b
    v̇_e = A_e⁻¹ b - X v̇_i
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mechid.dynamics.forward.on_tree import TreeFormulation
from mechid.kinematics.tables import Floats


class ExplicitGibbsAppell(TreeFormulation):
    """Reduced to the independent columns; which these are, pivoting decides at every state."""

    name = "explicit-gibbs-appell"

    def accelerations(
        self, M: Floats, force: Floats, A: Floats, b: Floats
    ) -> tuple[Floats, Floats]:
        """Eliminate the dependent accelerations; multipliers follow from the dependent rows."""
        m = len(A)
        if m == 0:
            return np.asarray(np.linalg.solve(M, force)), np.zeros(0)
        _, _, order = scipy.linalg.qr(A, mode="economic", pivoting=True)
        e, i = order[:m], order[m:]
        solved = np.linalg.solve(A[:, e], np.column_stack([A[:, i], b]))
        X, c = solved[:, :-1], solved[:, -1]
        Mee, Mei, Mie, Mii = M[np.ix_(e, e)], M[np.ix_(e, i)], M[np.ix_(i, e)], M[np.ix_(i, i)]
        reduced = Mii + X.T @ Mee @ X - Mie @ X - X.T @ Mei
        right = force[i] - X.T @ force[e] + (X.T @ Mee - Mie) @ c
        vd = np.empty(len(M))
        vd[i] = np.linalg.solve(reduced, right)
        vd[e] = c - X @ vd[i]
        multipliers = np.linalg.solve(A[:, e].T, Mee @ vd[e] + Mei @ vd[i] - force[e])
        return vd, multipliers
