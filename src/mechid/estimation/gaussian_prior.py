"""The prior as a Gaussian, with scales on its standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import block_diag

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.linear import Solution, prior_factor, with_prior
from mechid.estimation.noise import root_mean_square
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints

# A number that is declared, or left to the data.
Scale: TypeAlias = float | Literal["estimated"]

# Prior standard deviations of gains and offsets where they are estimated.
USUAL_CHANNEL_ERROR = 0.05


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """A Gaussian prior with scales on its standard deviations.

    Attributes
    ----------
    mean : array (n,)
    F : array (n, r)
        Factor of the covariance as declared, F Fᵀ.
    parameters : int
        Number of the first columns of F, which are those of the CAD values.
    group : array (r,) of int
        Which scale a column has; -1 for those that are as declared.
    scale : array (n_g,)
    """

    mean: Floats
    F: Floats
    parameters: int
    group: Ints
    scale: Floats

    @property
    def sizes(self) -> Floats:
        """Scale of each column, (r,)."""
        return np.append(self.scale, 1.0)[self.group]

    @property
    def factor(self) -> Floats:
        """F with scaled columns, (n, r)."""
        return np.asarray(self.F * self.sizes)

    @property
    def of_parameters(self) -> Floats:
        """Scales of the CAD values that are estimated, in the order of the groups."""
        own = self.group[: self.parameters]
        return self.scale[np.unique(own[own >= 0])]

    def solve(self, A: Floats, t: Floats) -> Solution:
        """Return the most probable x for rows in units of the noise."""
        return with_prior(A, t, self.mean, self.factor)


def cad_factor(prior: Prior, kind: Literal["diagonal", "full"]) -> Floats:
    """Return F (b, r), r ≤ b, of the covariance F Fᵀ of the base parameters.

    It is made of the factor of the covariance of all parameters, not of the covariance of the base
    parameters: combinations that are known exactly keep no variance from rounding.
    """
    F = prior.matrix @ prior_factor(prior.covariance)
    if kind == "diagonal":
        return np.diag(np.linalg.norm(F, axis=1))
    return np.asarray(np.linalg.qr(F.T, mode="r")).T


def cad_prior(
    channels: Channels,
    prior: Prior,
    kind: Literal["diagonal", "full"],
    scale: Scale,
    groups: tuple[tuple[str, ...], ...],
    gains: Scale | None,
    offsets: Scale | None,
) -> GaussianPrior:
    """Return the prior of x = (φ, g, o): CAD values, and no gain or offset errors.

    `prior` is that of the parameters of the regression, in its order. Options are those of
    `MaximumAPosteriori`.
    """
    F = cad_factor(prior, kind)
    if not np.any(F):
        raise DataError(
            "no standard deviations of the CAD values are declared: nothing would be left "
            "to estimate",
            remedy="declare how uncertain they are, or use an estimator without prior",
        )
    n_d = len(channels.regression.channels)
    mean, blocks, group = [prior.mean], [F], []
    start: list[float] = []
    if scale == "estimated":
        if groups and kind == "full":
            raise DataError(
                "separate scales for groups of parameters need independent errors",
                remedy="use the diagonal prior, or no groups",
            )
        number = _numbers(prior.base, groups) if groups else np.full(F.shape[1], 0)
        group.append(number)
        start += [1.0] * (int(number.max()) + 1)
    else:
        blocks[0] = scale * F
        group.append(np.full(F.shape[1], -1))
    for option, size in ((gains, np.ones(n_d)), (offsets, _sizes(channels))):
        if option is None:
            continue
        if option == "estimated":
            group.append(np.full(n_d, len(start)))
            start.append(1.0)
        else:
            group.append(np.full(n_d, -1))
        deviation = USUAL_CHANNEL_ERROR if option == "estimated" else option
        mean.append(np.zeros(n_d))
        blocks.append(np.diag(deviation * size))
    return GaussianPrior(
        np.concatenate(mean),
        block_diag(*blocks),
        F.shape[1],
        np.concatenate(group),
        np.array(start),
    )


def offset_deviation(channels: Channels, offsets: float) -> Floats:
    """Return the standard deviation of each offset (n_d,), N or N m."""
    return offsets * _sizes(channels)


def _sizes(channels: Channels) -> Floats:
    r = channels.regression
    return root_mean_square(r.tau[r.valid], channels.channel, len(r.channels))


def _numbers(base: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> Ints:
    """Return the number of the group of each base parameter; none of the groups is empty."""
    member = {name: k for k, names in enumerate(groups, start=1) for name in names}
    if strange := sorted(set(member) - set(base)):
        raise DataError(f"there is no parameter {strange[0]} to group")
    return np.unique([member.get(name, 0) for name in base], return_inverse=True)[1]
