"""The prior as a Gaussian, with scales on its standard deviations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from mechid.errors import DataError
from mechid.estimation.channels import DRIFT_TERMS, Channels
from mechid.estimation.linear import Reduced, Solution, compressed, prior_factor, with_prior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints

# A number that is declared, or left to the data.
Scale: TypeAlias = float | Literal["estimated"]
# Of CAD values also one for each body.
CadScale: TypeAlias = Scale | Literal["bodies"]
# Of gains also one for all forces: then none of them is taken as right because another is wrong.
GainScale: TypeAlias = Scale | Literal["shared"]

# Prior standard deviations of errors of the channels where they are estimated, as a part of the
# force.
USUAL_CHANNEL_ERROR = 0.05


class Belief(NamedTuple):
    """What is known of a scale: standard deviation of its logarithm, and bounds."""

    spread: float
    low: float
    high: float


# Declared standard deviations are trusted to within a factor of about two. They are never made
# smaller, and four times the usual 20 % is as much as an error can be: a part is known to have some
# mass. Usual errors of the channels are trusted to within three; gains of single forces to within
# ten, because mostly one is wrong and the others are not. Where one force has an error, the others
# are not taken as free of it.
CAD_BELIEF = Belief(float(np.log(2.0)), 1.0, 4.0)
# Single bodies can be off by more: a part with ballast, or of another variant.
BODY_BELIEF = Belief(float(np.log(2.0)), 1.0, 20.0)
CHANNEL_BELIEF = Belief(float(np.log(3.0)), 0.1, 1e3)
GAIN_BELIEF = Belief(float(np.log(10.0)), 0.1, 1e3)


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
    beliefs : tuple of Belief
        About each scale.
    owners : tuple of str
        Bodies and coefficients that the first scales belong to, if these have scales of their own.
    """

    mean: Floats
    F: Floats
    parameters: int
    group: Ints
    scale: Floats
    beliefs: tuple[Belief, ...]
    owners: tuple[str, ...] = ()

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

    def solve(self, A: Floats, t: Floats, data: Reduced | None = None) -> Solution:
        """Return the most probable x for rows in units of the noise; `data` as in `with_prior`."""
        return with_prior(A, t, self.mean, self.factor, data)


def cad_factor(prior: Prior, kind: Literal["diagonal", "full"]) -> Floats:
    """Return F (b, r), r ≤ b, of the covariance F Fᵀ of the base parameters.

    It is made of the factor of the covariance of all parameters, not of the covariance of the base
    parameters: combinations that are known exactly keep no variance from rounding.
    """
    F = prior.matrix @ prior_factor(prior.covariance)
    if kind == "diagonal":
        return np.diag(np.linalg.norm(F, axis=1))
    return compressed(F)


def body_factors(prior: Prior) -> tuple[Floats, Ints, tuple[str, ...]]:
    """Return F (b, r) of the full covariance with columns of single bodies, their numbers, names.

    Bodies whose CAD values have something to do with each other, by measured masses or symmetry,
    count as one; each coefficient of a force element is by itself.
    """
    linked, names = prior.covariance != 0, list(prior.parameters)
    for name, first in prior.bodies:
        linked[first : first + 10, first : first + 10] = True
        names[first : first + 10] = [name] * 10
    _, part = connected_components(csr_matrix(linked), directed=False)
    blocks: list[Floats] = []
    number: list[Ints] = []
    owners: list[str] = []
    for own in (np.flatnonzero(part == k) for k in range(part.max(initial=-1) + 1)):
        F = prior.matrix[:, own] @ prior_factor(prior.covariance[np.ix_(own, own)])
        F = F[:, np.any(F != 0, axis=0)]
        if F.size:
            number.append(np.full(F.shape[1], len(blocks)))
            blocks.append(F)
            owners.append(" and ".join(dict.fromkeys(names[i] for i in own)))
    if not blocks:
        return np.zeros((len(prior.base), 0)), np.zeros(0, dtype=np.int64), ()
    return np.hstack(blocks), np.concatenate(number), tuple(owners)


def cad_prior(
    channels: Channels,
    prior: Prior,
    kind: Literal["diagonal", "full"],
    scale: CadScale,
    groups: tuple[tuple[str, ...], ...],
    errors: Mapping[str, GainScale | None],
) -> GaussianPrior:
    """Return the prior of x: CAD values, and no errors of the channels.

    `prior` is that of the parameters of the regression, in its order. `errors` are the options
    gains, offsets, drift and delay of `MaximumAPosteriori`, in the order of `Channels.layout`.
    """
    if scale == "bodies":
        F, whose, owners = body_factors(prior)
    else:
        F, owners = cad_factor(prior, kind), ()
    if not np.any(F):
        raise DataError(
            "no standard deviations of the CAD values are declared: nothing would be left "
            "to estimate",
            remedy="declare how uncertain they are, or use an estimator without prior",
        )
    mean, blocks, group = [prior.mean], [F], []
    beliefs: list[Belief] = []
    if scale == "bodies":
        group.append(whose)
        beliefs += [BODY_BELIEF] * len(owners)
    elif scale == "estimated":
        if groups and kind == "full":
            raise DataError(
                "separate scales for groups of parameters need independent errors",
                remedy="use the diagonal prior, or no groups",
            )
        number = _numbers(prior.base, groups) if groups else np.full(F.shape[1], 0)
        group.append(number)
        beliefs += [CAD_BELIEF] * (int(number.max()) + 1)
    else:
        blocks[0] = scale * F
        group.append(np.full(F.shape[1], -1))
    for name, option in errors.items():
        if option is None:
            continue
        size = channels.usual_sizes(name, prior.mean)
        # Forces are late together, because they are recorded together.
        block = np.full((len(size), 1), np.median(size)) if name == "delay" else np.diag(size)
        own = np.full(block.shape[1], -1)
        if isinstance(option, str):
            # Each series has a scale of its own: an error of one force does not mean that all have
            # one.
            own = np.arange(block.shape[1]) // (DRIFT_TERMS if name == "drift" else 1)
            own = np.zeros_like(own) if option == "shared" else own
            single = name == "gains" and option != "shared"
            belief = GAIN_BELIEF if single else CHANNEL_BELIEF
            own, beliefs = own + len(beliefs), [*beliefs, *[belief] * (int(own[-1]) + 1)]
        group.append(own)
        mean.append(np.zeros(len(size)))
        blocks.append((USUAL_CHANNEL_ERROR if isinstance(option, str) else option) * block)
    return GaussianPrior(
        np.concatenate(mean),
        block_diag(*blocks),
        F.shape[1],
        np.concatenate(group),
        np.ones(len(beliefs)),
        tuple(beliefs),
        owners,
    )


def _numbers(base: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> Ints:
    """Return the number of the group of each base parameter; none of the groups is empty."""
    member = {name: k for k, names in enumerate(groups, start=1) for name in names}
    if strange := sorted(set(member) - set(base)):
        raise DataError(f"there is no parameter {strange[0]} to group")
    return np.unique([member.get(name, 0) for name in base], return_inverse=True)[1]
