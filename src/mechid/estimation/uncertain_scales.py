"""An estimate averaged over how wrong its CAD values, and gains of its forces, may be.

Declared standard deviations are trusted to within a factor of about two. The most probable factor
alone is not the whole of it: a few bodies do not show whether centres of mass are off by more than
declared, and intervals that take the declared sizes as exact are too narrow when they are not. So
each kind of error (`cad_kinds.py`) has a scale u = ln(factor) ≥ 0 with a Gaussian belief, and the
result is the mean over all scales with the weights that the data leave them,

    p(u | data) ∝ evidence(u) · belief(u),

on a grid about the most probable one. Where gains were taken, it is the mean over the sets of
forces that may be off, too (`wrong_forces.py`). Its covariance is that of the mixture: the mean of
the covariances, and the spread of the values. Values suppose that forces which are off are off by
as much as usual; the covariance is that of the errors of these values if they may also be off by
twice as much, since nobody declared a size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.linalg import block_diag

from mechid.estimation.cad_kinds import kind_factors
from mechid.estimation.eliminated import eliminated
from mechid.estimation.estimate import Estimate
from mechid.estimation.evidence import log_density
from mechid.estimation.gaussian_prior import (
    BODY_BELIEF,
    USUAL_CHANNEL_ERROR,
    GaussianPrior,
    with_root,
    within,
)
from mechid.estimation.linear import Solution, compressed, reduced
from mechid.estimation.map_posterior import Posterior
from mechid.estimation.regression import Floats, Ints
from mechid.estimation.wrong_forces import LARGE, WrongForces, wrong_forces

# Scales along each axis where the most probable ones are looked for, and passes over the axes.
_COARSE, _PASSES = 13, 2
# Parts of a mixture that are computed at most, and whose roots are held at once.
_MOST, _TOGETHER = 4000, 16
# Log density below the largest down to which scales count, nodes of an axis (midpoint rule), part
# of all weights that the nodes in use must have.
_DEPTH, _MIDDLES, _ENOUGH = 4.5, (np.arange(5) + 0.5) / 5, 0.98


def with_uncertain_scales(
    estimate: Estimate, posterior: Posterior, *, patterns: bool = False
) -> Estimate:
    """Return an estimate averaged over the scales of the errors of its CAD values.

    Parameters
    ----------
    estimate : Estimate
        Of the posterior.
    posterior : Posterior
        Scales are averaged with the full prior and one estimated scale; otherwise they stay.
    patterns : bool
        Whether to average over the forces that may be off, too; the posterior has gains then.
    """
    fit, channels = posterior.fit, posterior.channels
    gaussian = posterior.gaussian
    kinds = kind_factors(posterior.prior)
    if len(gaussian.of_parameters) != 1 or gaussian.owners:
        kinds = {}
    if not kinds and not patterns:
        return estimate
    b, gains = len(estimate.parameters), channels.layout["gains"]
    part = eliminated(reduced(fit.A, fit.t, gaussian.mean), gaussian, gains.stop)
    data, gaussian = part.data, part.gaussian

    def wrong(*sizes: float) -> WrongForces:
        used = np.any(channels.regression.valid, axis=0)
        return wrong_forces(data, gaussian, gains, used, sizes)

    sets = wrong(USUAL_CHANNEL_ERROR) if patterns else None
    probable = _with_kinds(gaussian if sets is None else sets.priors[0], kinds)

    def density(u: Floats) -> float:
        belief = -0.5 * float(np.sum((u / BODY_BELIEF.spread) ** 2))
        return belief + log_density(data, _scaled(probable, u))

    scales, weights = _grid(density, len(kinds))

    def mean_over(
        priors: Sequence[GaussianPrior], shares: Floats, about: Floats | None = None
    ) -> Solution:
        wide = [_with_kinds(prior, kinds) for prior in priors]
        number, share = _evenly(np.outer(shares, weights).ravel())
        pairs = (divmod(int(k), len(scales)) for k in number)
        parts = (with_root(data, _scaled(wide[i], scales[j])) for i, j in pairs)
        return _mixture(parts, share, about)

    if sets is None:
        found = mean_over((gaussian,), np.ones(1))
        widest = gaussian
    else:
        found = mean_over(sets.priors, sets.weights)
        doubts = wrong(USUAL_CHANNEL_ERROR, LARGE)
        found = mean_over(doubts.priors, doubts.weights, found.x)
        widest = doubts.widest
    found = part.whole(found)
    found = replace(found, root=within(block_diag(widest.factor, part.factor), found.root))
    return replace(
        estimate,
        values=found.x[:b],
        covariance=found.covariance[:b, :b],
        residuals=channels.regression.unstacked(channels.residuals(found.x)),
        errors=channels.errors(found),
        known=(
            *estimate.known,
            *_scale_words(kinds, np.exp(weights @ scales)),
            *(() if sets is None else _gain_words(estimate.channels, sets)),
        ),
    )


def _scale_words(kinds: Mapping[str, Floats], mean: Floats) -> Iterator[str]:
    if kinds:
        words = ", ".join(f"{name} {size:.2g}" for name, size in zip(kinds, mean, strict=True))
        yield f"averaged over how wrong the CAD values may be; on average {words} times as declared"


def _gain_words(forces: Sequence[str], sets: WrongForces) -> Iterator[str]:
    words = ", ".join(
        f"{name} {p:.0%}" for name, p in zip(forces, sets.off, strict=True) if np.isfinite(p)
    )
    yield f"averaged over the forces whose gain may be off; probability of each: {words}"


def _with_kinds(gaussian: GaussianPrior, kinds: Mapping[str, Floats]) -> GaussianPrior:
    """Return the declared prior with columns of each kind of error besides; their scales are 0."""
    if not kinds:
        return gaussian
    own = np.arange(gaussian.F.shape[1]) < gaussian.parameters
    added = np.hstack(list(kinds.values()))
    added = np.vstack([added, np.zeros((len(gaussian.mean) - len(added), added.shape[1]))])
    number = np.repeat(np.arange(len(kinds)), [F.shape[1] for F in kinds.values()])
    return replace(
        gaussian,
        F=np.hstack([np.where(own, gaussian.F, gaussian.factor), added]),
        group=np.append(np.full(len(own), -1), number),
        scale=np.zeros(len(kinds)),
        beliefs=(BODY_BELIEF,) * len(kinds),
    )


def _scaled(wide: GaussianPrior, u: Floats) -> GaussianPrior:
    """Return the prior with factors exp(u) on the standard deviations of the kinds of error."""
    if not len(u):
        return wide
    return replace(wide, scale=np.sqrt(np.expm1(2 * u)))


def _grid(density: Callable[[Floats], float], k: int) -> tuple[Floats, Floats]:
    """Return logarithms of scales (n, k) about the most probable ones, and their weights (n,)."""
    tried = np.linspace(0.0, np.log(BODY_BELIEF.high), _COARSE)
    step, best = tried[1], np.zeros(k)
    axes = [tried] * k
    for _ in range(_PASSES):
        for i in range(k):
            line = np.tile(best, (_COARSE, 1))
            line[:, i] = tried
            found = np.array([density(u) for u in line])
            best = line[np.argmax(found)]
            near = tried[found > found.max() - _DEPTH]
            low, high = max(0.0, near[0] - step), near[-1] + step
            axes[i] = low + (high - low) * _MIDDLES
    scales = np.array(list(product(*axes)))
    found = np.array([density(u) for u in scales])
    order = np.argsort(-found, kind="stable")
    weights = np.exp(found[order] - found[order[0]])
    last = int(np.searchsorted(np.cumsum(weights), _ENOUGH * np.sum(weights))) + 1
    return scales[order[:last]], weights[:last] / np.sum(weights[:last])


def _evenly(weights: Floats) -> tuple[Ints, Floats]:
    """Return the parts of a mixture that are computed, and their weights.

    Of more than some thousand those at equal steps of the cumulated weight: parts that follow each
    other are alike, so that each stands for its neighbours.
    """
    if len(weights) <= _MOST:
        return np.arange(len(weights)), weights
    ends = np.cumsum(weights)
    at = np.searchsorted(ends / ends[-1], (np.arange(_MOST) + 0.5) / _MOST)
    number, count = np.unique(at, return_counts=True)
    return number, count / _MOST


def _mixture(
    parts: Iterable[tuple[Floats, Floats]], weights: Floats, about: Floats | None = None
) -> Solution:
    """Return mean and covariance of a mixture; roots are joined, no covariance is formed.

    With `about`, the values are these, and the covariance is that of their errors.
    """
    means: list[Floats] = []
    roots: list[Floats] = []
    for w, (own, T) in zip(weights, parts, strict=True):
        means.append(own)
        roots.append(np.sqrt(w) * T)
        if len(roots) == _TOGETHER:
            roots = [compressed(np.hstack(roots))]
    x = np.asarray(weights @ np.array(means)) if about is None else about
    spread = np.sqrt(weights)[:, None] * (np.array(means) - x)
    root = compressed(np.hstack([*roots, spread.T]))
    return Solution(x, root, np.zeros(0), np.zeros((0, len(x))))
