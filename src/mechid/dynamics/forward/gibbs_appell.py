"""Lagrange multipliers on the tree, with the recursive Gibbs-Appell mass matrix and bias.

[ M  -Aᵀ ] [ v̇ ]   [ Q - h ]
[ A   0  ] [ λ ] = [ b     ]
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.forward.on_tree import TreeFormulation
from mechid.kinematics.tables import Floats


class GibbsAppell(TreeFormulation):
    """The augmented system of size n + m; M may be singular where constraints hold the rest."""

    name = "gibbs-appell"

    def accelerations(
        self, M: Floats, force: Floats, A: Floats, b: Floats
    ) -> tuple[Floats, Floats]:
        """Solve the augmented system."""
        n, m = len(M), len(A)
        K = np.zeros((n + m, n + m))
        K[:n, :n], K[:n, n:], K[n:, :n] = M, -A.T, A
        x = np.linalg.solve(K, np.concatenate([force, b]))
        return x[:n], x[n:]
