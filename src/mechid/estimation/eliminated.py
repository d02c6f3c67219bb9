"""A problem without the part of x whose prior stays: what the rest says, and the whole again.

Offsets, drift and delays of the forces are many numbers, up to ten for each force and log. Where
many priors of the parameters are tried, they come along in each trial, although the law of these
numbers, given the parameters, is the same in all. So they are eliminated once. With x = x0 + F z in
that part,

    |R_n F z + R_i (x_i - x0_i) - y|² + |z|² = |U z + V (x_i - x0_i) - u|² + |R (x_i - x0_i) - y'|²,

U triangular, by one QR factorisation: the last term is the problem of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, solve_triangular

from mechid.estimation.gaussian_prior import GaussianPrior
from mechid.estimation.linear import Reduced, Solution
from mechid.estimation.regression import Floats


@dataclass(frozen=True, eq=False)
class Eliminated:
    """The problem of the first q numbers of x.

    Attributes
    ----------
    data : Reduced
    gaussian : GaussianPrior
        Of these numbers.
    mean : array (p,)
        Prior mean of the others.
    factor : array (p, r)
        F.
    spread : array (p, r)
        F U⁻¹: root of their covariance, if the first are known.
    slope : array (r, q)
        V: they are mean + spread (shift - slope (x_i - x0_i)).
    shift : array (r,)
        u.
    """

    data: Reduced
    gaussian: GaussianPrior
    mean: Floats
    factor: Floats
    spread: Floats
    slope: Floats
    shift: Floats

    def whole(self, found: Solution) -> Solution:
        """Return the solution for all of x, from one for the first numbers."""
        by = found.x - self.gaussian.mean
        others = self.mean + self.spread @ (self.shift - self.slope @ by)
        unknown = np.vstack([np.zeros((len(found.x), self.spread.shape[1])), self.spread])
        along = np.vstack([found.root, -self.spread @ (self.slope @ found.root)])
        return replace(found, x=np.append(found.x, others), root=np.hstack([along, unknown]))


def eliminated(data: Reduced, gaussian: GaussianPrior, q: int) -> Eliminated:
    """Return the problem of the first q numbers, of which the others must be independent a priori.

    Parameters
    ----------
    data : Reduced
        Of all numbers.
    gaussian : GaussianPrior
    q : int
    """
    own = np.any(gaussian.F[:q] != 0, axis=0)
    F = gaussian.factor[q:][:, ~own]
    r = F.shape[1]
    rows = np.hstack([data.R[:, q:] @ F, data.R[:, :q], data.y[:, None]])
    prior = np.hstack([np.eye(r), np.zeros((r, q + 1))])
    (C,) = qr(np.vstack([rows, prior]), mode="r", check_finite=False)
    U, V, u = C[:r, :r], C[:r, r:-1], C[:r, -1]
    left = float(np.sum(C[r + q :, -1] ** 2))
    return Eliminated(
        Reduced(C[r : r + q, r:-1], C[r : r + q, -1], data.outside + left),
        replace(
            gaussian,
            mean=gaussian.mean[:q],
            F=gaussian.F[:q][:, own],
            parameters=int(np.count_nonzero(own[: gaussian.parameters])),
            group=gaussian.group[own],
        ),
        gaussian.mean[q:],
        F,
        solve_triangular(U, F.T, trans="T", check_finite=False).T,
        V,
        u,
    )
