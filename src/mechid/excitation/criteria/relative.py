"""Criteria when the noise of each force is proportional to that force in the motion itself.

The standard deviation depends on the motion then. It is that of the root mean square r_j of the
force, or of a floor where that is larger: the smooth maximum

    σ_j⁴ = ν⁴ (r_j⁴ + floor_j⁴),    r_j² = mean_n τ_nj²,    τ = W_b θ + known,

and the criterion f(W_b, σ) depends on it. Criteria see rows divided by σ_j only, so that

    ∂f/∂σ_j = -1/σ_j Σ_n (∂f/∂W_nj) · W_nj,    ∂σ_j/∂τ_nj = ν⁴ r_j² τ_nj / (N σ_j³),

and the gradient is exact, by W_b and by the known forces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.excitation.criteria.criterion import Criterion, Look
from mechid.excitation.criteria.root import Floats


@dataclass(frozen=True, eq=False)
class RelativeNoise:
    """A criterion with the noise of the evaluated motion.

    Attributes
    ----------
    criterion : Criterion
        Its own `sigma` does not count.
    noise : float
        ν, standard deviation relative to the root mean square of each force of the motion.
    values : array (b,)
        θ, base parameters by CAD.
    floor : array (n_i,)
        Smallest force (N or N m) that noise is relative to, so that no force is free of noise. An
        infinite one stands for a force that is not measured.
    """

    criterion: Criterion
    noise: float
    values: Floats
    floor: Floats

    def __post_init__(self) -> None:
        """Reject noise that is not positive."""
        if not self.noise > 0 or not np.all(np.asarray(self.floor) > 0):
            raise DataError("relative noise and its floor must be > 0")

    def sigma(self, W: Floats, known: Floats) -> Floats:
        """Return the standard deviation of the noise of each force, (n_i,)."""
        tau = W @ self.values + known
        return np.asarray(self.sigma_of(np.mean(tau**2, axis=0)))

    def sigma_of(self, mean_square: Any, xp: Any = np) -> Any:
        """Return it for the mean squares of the forces, (…, n_i); `xp` is NumPy or CuPy."""
        return self.noise * xp.sqrt(xp.hypot(mean_square, xp.asarray(self.floor**2)))

    def at(self, W: Floats, known: Floats) -> Criterion:
        """Return the criterion with the noise of this motion, held."""
        options = replace(self.criterion.options, sigma=self.sigma(W, known))
        return Criterion(self.criterion.name, options)

    def look(self, W: Floats, known: Floats) -> Look:
        """Return the value, and its gradients by W_b and by the known forces."""
        sigma = self.sigma(W, known)
        value, by_W = self.criterion.value_and_gradient(W, sigma)
        by_sigma = -np.einsum("njk,njk->j", by_W, W) / sigma
        tau = W @ self.values + known
        by_tau = by_sigma * self.noise * (self.noise / sigma) ** 3 * np.mean(tau**2, axis=0) * tau
        by_tau /= len(W)
        return Look(value, by_W + by_tau[..., None] * self.values, by_tau)
