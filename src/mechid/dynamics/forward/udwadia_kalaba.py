"""Udwadia and Kalaba: the accelerations nearest, in the metric of M, to the unconstrained ones.

    v̇ = a + M^(-1/2) (A M^(-1/2))⁺ (b - A a),   a = M⁻¹ (Q - h)

Where M is singular (a massless link), the general form of Udwadia and Phohomsiri holds:

    v̇ = [ (1 - A⁺A) M ]⁺ [ Q - h ]
        [      A      ]  [   b   ]
"""

from __future__ import annotations

import numpy as np

from mechid.dynamics.forward.on_tree import TreeFormulation
from mechid.kinematics.tables import Floats

_SINGULAR = 1e-12


class UdwadiaKalaba(TreeFormulation):
    """Explicit accelerations by generalised inverses; needs no choice of coordinates."""

    name = "udwadia-kalaba"

    def accelerations(
        self, M: Floats, force: Floats, A: Floats, b: Floats
    ) -> tuple[Floats, Floats]:
        """Return the constrained accelerations; multipliers from the force they need."""
        w, V = np.linalg.eigh(M)
        if not w[-1] > 0:
            raise np.linalg.LinAlgError("no mass at all")
        if w[0] > _SINGULAR * w[-1]:
            half = (V / np.sqrt(w)) @ V.T
            a = half @ (half @ force)
            B = A @ half
            vd = a + half @ (np.linalg.pinv(B) @ (b - A @ a)) if len(A) else a
        else:
            P = np.eye(len(M)) - np.linalg.pinv(A) @ A
            stacked = np.vstack([P @ M / w[-1], A])
            right = np.concatenate([P @ force / w[-1], b])
            vd, _, rank, _ = np.linalg.lstsq(stacked, right, rcond=1e-13)
            if rank < len(M):
                raise np.linalg.LinAlgError("accelerations are not determined")
        multipliers = np.linalg.lstsq(A.T, M @ vd - force, rcond=None)[0] if len(A) else b
        return vd, multipliers
