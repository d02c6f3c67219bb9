"""Equations of motion that share nothing with the package: vectors as formulas, differentiated.

A mechanism is a list of weighted vectors x with kinetic energy ½ Σ w |ẋ|². A rigid body gives four:
its mass with its centre, and its second moments of mass with its principal axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from mechid.kinematics.tables import Floats

Weighted = tuple[float, sp.Matrix]
X, Y, Z = (sp.Matrix(np.eye(3, dtype=int)[i]) for i in range(3))


def turn(axis: sp.Matrix, angle: Any) -> sp.Matrix:
    """Return the rotation about an axis of the frame, which may be reversed."""
    K = sp.Matrix(3, 3, lambda i, j: -sum(sp.LeviCivita(i, j, k) * axis[k] for k in range(3)))
    return sp.eye(3) + sp.sin(angle) * K + (1 - sp.cos(angle)) * K * K


def body(
    mass: float, center: sp.Matrix, rotation: sp.Matrix, moments: tuple[Any, Any, Any]
) -> list[Weighted]:
    """Return the weighted vectors of a body; `moments` of inertia about its centre, kg m²."""
    half = sum(moments) / 2
    return [(mass, center), *((half - x, rotation[:, i]) for i, x in enumerate(moments))]


@dataclass(frozen=True)
class System:
    """Coordinates x with speeds ẋ, weighted vectors, energies, constraints f(x) = 0.

    `potential` is in J; `dissipation` is Rayleigh's function of x and `rates`, in W, half of what
    is dissipated; `forces` act on the coordinates.
    """

    x: tuple[sp.Symbol, ...]
    vectors: list[Weighted]
    potential: Any = 0
    dissipation: Any = 0
    constraints: tuple[Any, ...] = ()
    forces: tuple[float, ...] = ()

    def solve(
        self, start: list[float], speeds: list[float], times: Floats, method: str = "DOP853"
    ) -> Floats:
        """Return coordinates and speeds at the times, (N, 2 n), with tolerances near rounding."""
        x = sp.Matrix(self.x)
        xd = sp.Matrix(rates(self.x))
        stacked = sp.Matrix.vstack(*(v for _, v in self.vectors))
        weights = np.repeat([float(w) for w, _ in self.vectors], 3)
        J = stacked.jacobian(x)
        f = sp.Matrix(self.constraints) if self.constraints else sp.zeros(0, 1)
        G = f.jacobian(x) if self.constraints else sp.zeros(0, len(x))
        gradient = sp.Matrix([self.potential]).jacobian(x).T
        damping = sp.Matrix([self.dissipation]).jacobian(xd).T
        bias, held = ((A * xd).jacobian(x) * xd for A in (J, G))
        evaluate = sp.lambdify(
            (list(x), list(xd)), [J, bias, gradient + damping, G, held], cse=True
        )
        given = np.array(self.forces or np.zeros(len(x)), dtype=float)
        n, m = len(x), len(self.constraints)

        def rate(_: float, z: Floats) -> Floats:
            J, bias, lost, G, held = evaluate(z[:n], z[n:])
            J = np.asarray(J, dtype=float)
            weighted = J.T * weights
            A = np.zeros((n + m, n + m))
            A[:n, :n], A[:n, n:], A[n:, :n] = weighted @ J, np.transpose(G), G
            right = given - np.ravel(lost) - weighted @ np.ravel(bias)
            accelerations = np.linalg.solve(A, np.concatenate([right, -np.ravel(held)]))[:n]
            return np.concatenate([z[n:], accelerations])

        found = solve_ivp(
            rate,
            (times[0], times[-1]),
            np.array([*start, *speeds], dtype=float),
            method=method,
            t_eval=times,
            rtol=1e-12,
            atol=1e-13,
        )
        return np.asarray(found.y.T)


def rates(x: tuple[sp.Symbol, ...]) -> tuple[sp.Symbol, ...]:
    """Return the symbols of the speeds."""
    return tuple(sp.Symbol(f"{s}_dot") for s in x)
