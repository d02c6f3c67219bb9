"""The posterior as an estimator: values with standard deviations, and what else was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mechid.errors import DataError
from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Agreement, ChannelErrors, Estimate, Finding
from mechid.estimation.estimator import one_of
from mechid.estimation.gaussian_prior import GaussianPrior, agreement, cad_factor
from mechid.estimation.implausible import plausible
from mechid.estimation.iteration import NoiseOption
from mechid.estimation.late import resolution
from mechid.estimation.linear import condition, reduced
from mechid.estimation.physical import possible
from mechid.estimation.posterior.component import Family, chosen_families, directions
from mechid.estimation.posterior.fit import Fitted, fit
from mechid.estimation.posterior.sensors import sizes, unit_gain, usual_step
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.whitening import fit_colour, stretches

# A parameter rests on the prior if the data reduce its standard deviation by less than this part.
_RESTING = 0.1


@dataclass(frozen=True)
class JointPosterior:
    """Parameters and everything that may be wrong, as one posterior.

    Attributes
    ----------
    without, only : str
        Families of errors that are not there, or all that may be, as "gains, delays"; or "none".
    usual : str
        Usual sizes of families, if they are known, as "offsets=2%, delays=0.5".
    noise : "estimated" or "declared"
        Estimated noise is not less than what is declared.
    prior : "full"
        Errors of CAD values go together as their covariance says.
    seed : int
        Of the sampling.
    """

    without: str = ""
    only: str = ""
    usual: str = ""
    noise: NoiseOption = "estimated"
    prior: str = "full"
    seed: int = 0
    name: str = "auto"

    def __post_init__(self) -> None:
        """Reject families that do not exist."""
        _ = self.families

    @property
    def families(self) -> Mapping[str, Family]:
        """Families of errors that may be there, by name."""
        return chosen_families(self.without, self.only, self.usual)

    def __call__(self, regression: Regression, prior: Prior | None = None) -> Estimate:
        """Return the estimate."""
        if prior is None:
            raise DataError(
                f"estimator {self.name} needs CAD values with standard deviations, but the model "
                "gives none",
                remedy="declare them, or use an estimator without prior",
            )
        one_of("noise", self.noise, "estimated", "declared")
        one_of("the prior", self.prior, "full")
        measured = regression.valid.any(axis=0)
        told = regression.noise is not None and bool(np.all(regression.noise[measured]))
        if self.noise == "declared" and not told:
            raise DataError(
                "no error of some force is declared",
                remedy="declare its standard deviation, or have the noise estimated",
            )
        known = prior.select(regression.parameters)
        used, words = plausible(regression, known)
        in_time = np.lexsort((used.time, used.logs))
        estimate = _estimate(self.name, self._fitted(used.part(in_time), known), words)
        residuals = np.empty_like(estimate.residuals)
        residuals[in_time] = estimate.residuals
        return possible(replace(estimate, residuals=residuals), used, known)

    def _fitted(self, regression: Regression, prior: Prior) -> Fitted:
        return fit(
            regression,
            prior,
            families=self.families,
            declared_noise=self.noise == "declared",
            seed=self.seed,
        )


def _estimate(name: str, found: Fitted, warnings: tuple[str, ...]) -> Estimate:
    r, prior = found.regression, found.prior
    F = directions(found.components)
    n = F.shape[1]
    covariance = found.covariance
    values = prior.mean + F @ found.mean[:n]
    own = F @ covariance[:n, :n] @ F.T
    spread = np.repeat(found.draws.spread, np.diff(found.start))[:n]
    sigma, before = np.sqrt(np.maximum(np.diag(own), 0.0)), np.linalg.norm(F * spread, axis=1)
    resting = tuple(
        p for p, s, b in zip(r.parameters, sigma, before, strict=True) if s >= (1 - _RESTING) * b
    )
    noise, lacking = _noise(found)
    if r.noise is not None:
        noise = np.maximum(noise, r.noise)
    A, _, channel = r.stacked()
    finite = np.isfinite(found.tails)
    return Estimate(
        name,
        r.parameters,
        values,
        (own + own.T) / 2,
        r.channels,
        noise,
        r.unstacked(found.residuals),
        condition(A * (np.sqrt(found.weights / found.variance) / noise[channel])[:, None]),
        known=prior.words,
        warnings=warnings,
        agreement=_agreement(found, A @ (values - prior.mean)),
        errors=_errors(found, F),
        tails=float(np.min(found.tails)) if finite.any() else None,
        resting=resting,
        unmodelled=lacking,
        doubted=_doubted(found, F),
        found=tuple(sorted(_findings(found), key=lambda x: -x.probability)),
    )


def _agreement(found: Fitted, off: Floats) -> Agreement | None:
    """Return how CAD values agree with what forces say of the parameters, everything else being as
    found; off (m,) are the forces by which the parameters differ from them."""
    prior = found.prior
    if prior.estimated:
        return None
    channels = Channels(found.regression)
    A, _ = channels.problem
    noise = found.draws.noise[channels.series]
    weight = np.sqrt(found.share * found.weights / found.variance) / noise
    nothing = np.zeros(A.shape[1])
    data = reduced(A * weight[:, None], (found.residuals + off) * weight, nothing)
    F = cad_factor(prior, "full")
    return agreement(data, GaussianPrior(nothing, F, F.shape[1]))


def _doubted(found: Fitted, F: Floats) -> Floats | None:
    """Return a root of what the covariance has because the model may lack something: the forces
    that are predicted for the same machine do not have it, as parameters took it up."""
    lacking = [i for i, c in enumerate(found.components) if c.forces is not None]
    if not lacking:
        return None
    own = np.concatenate([np.arange(len(found.mean))[found.of(i)] for i in lacking])
    C = found.covariance
    U, size, _ = np.linalg.svd(C[np.ix_(own, own)], hermitian=True)
    there = size > len(size) * np.finfo(float).eps * np.max(size, initial=0.0)
    return np.asarray(F @ C[: F.shape[1], own] @ (U[:, there] / np.sqrt(size[there])))


def _findings(found: Fitted) -> Iterator[Finding]:
    """Yield everything that may be there."""
    r, spread = found.regression, np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    count = np.maximum(np.sum(r.valid, axis=0), 1)
    rms = sizes(r)
    rms = np.where(rms > 0, rms, np.inf)
    for i, c in enumerate(found.components):
        if not (c.seen and c.family.absent):
            continue
        own = found.of(i)
        mean, sigma = found.mean[own], spread[own]
        unit, factor = "", 1.0
        share = 0.0
        if c.forces is not None:
            unit, factor = "m" if c.family.name == "places" else "", c.unit
            squares = np.sum(np.where(r.valid, c.forces @ mean, 0.0) ** 2, axis=0)
            share = float(np.max(np.sqrt(squares / count) / rms))
        elif c.family.name == "gains":
            factor = unit_gain(c)
            share = float(abs(np.expm1(factor * mean[0])))
        elif c.family.name == "delays":
            unit, factor = "s", c.family.usual * usual_step(r.time)
        elif c.columns is not None:
            of_log = c.columns[(r.logs == c.log) & r.valid[:, c.channel]] @ mean
            share = float(np.sqrt(np.mean(of_log**2)) / rms[c.channel])
            if c.family.name == "offsets":
                unit, factor = r.units[c.channel], float(np.max(np.abs(c.columns)))
        shown = np.expm1(factor * mean) if c.family.name == "gains" else factor * mean
        yield Finding(
            name=c.name,
            family=c.family.name,
            owner=c.family.owner,
            channel=c.at if c.channel < 0 else r.channels[c.channel],
            probability=float(found.draws.present[i]),
            values=tuple(shown.tolist()),
            sigma=tuple((abs(factor) * sigma).tolist()),
            unit=unit,
            share=share,
            remedy=c.family.remedy,
        )


def _noise(found: Fitted) -> tuple[Floats, Floats]:
    """Return the noise of each channel, and what of it the model may lack, (n_d,) each.

    Noise has no memory; what is smooth in time may be an error of the model, which comes again.
    """
    r = found.regression
    n_d = len(r.channels)
    e, where = found.residuals, stretches(r)
    squares, lacking, count = np.zeros(n_d), np.zeros(n_d), np.zeros(n_d)
    for s, parts in enumerate(where):
        if not parts:
            continue
        rows, d = np.concatenate(parts), s % n_d
        nu = found.tails[s]
        wider = nu / (nu - 2.0) if np.isfinite(nu) else 1.0
        variance = found.draws.noise[s] ** 2 * wider * found.variance[rows]
        squares[d] += np.sum(variance)
        whole = np.zeros(len(e))
        whole[rows] = np.clip(e[rows], -4 * np.sqrt(variance), 4 * np.sqrt(variance))
        ratio = fit_colour([whole[part] for part in parts]).ratio
        lacking[d] += len(rows) * float(np.mean(whole[rows] ** 2)) * (1.0 - 1.0 / ratio**2)
        count[d] += len(rows)
    with np.errstate(invalid="ignore", divide="ignore"):
        noise = np.sqrt(np.where(count > 0, squares / count, np.nan))
        return noise, np.sqrt(np.where(count > 0, lacking / np.maximum(count, 1), 0.0))


def _errors(found: Fitted, F: Floats) -> ChannelErrors | None:
    """Return the errors of the channels; F (b, n) are the directions of the parameters."""
    r = found.regression
    n_d, n_logs = len(r.channels), int(r.logs.max(initial=0)) + 1
    covariance, K = found.covariance, len(found.mean)
    gain, offset = np.zeros((n_d, K)), np.zeros((n_logs, n_d, K))
    drift, seen = np.zeros((n_d, len(r.time))), np.zeros((n_logs, n_d))
    delay = np.zeros(K)
    for i, c in enumerate(found.components):
        own = found.of(i)
        if c.columns is None:
            continue
        if c.family.name == "gains":
            at = slice(None) if c.channel < 0 else c.channel
            gain[at, own] += unit_gain(c)
        elif c.family.name == "offsets":
            offset[c.log, c.channel, own] = np.max(np.abs(c.columns))
            seen[c.log, c.channel] = 1.0
        elif c.family.name == "drifts":
            drift[c.channel] += c.columns @ found.mean[own]
        else:
            delay[own] = c.family.usual * usual_step(r.time)
    if not any(c.columns is not None for c in found.components):
        return None

    def spread(T: Floats) -> Floats:
        return np.asarray(np.sqrt(np.maximum(np.einsum("...i,ij,...j->...", T, covariance, T), 0)))

    # Of another log, and of those without this force: the mean of these, uncertain as one of them.
    count = np.sum(seen, axis=0)
    mean = offset.sum(axis=0) / np.maximum(count, 1)[:, None]
    by_log = np.where(seen > 0, offset @ found.mean, mean @ found.mean)
    squares = np.sum(seen * (by_log - mean @ found.mean) ** 2, axis=0)
    between = np.sqrt(squares / np.maximum(count - 1, 1))
    late = np.full(n_d, found.delay)
    return ChannelErrors(
        gain=np.expm1(gain @ found.mean),
        sigma_gain=spread(gain) * np.exp(gain @ found.mean),
        offset=mean @ found.mean,
        sigma_offset=np.hypot(spread(mean), between),
        cross=F @ covariance[: F.shape[1]] @ mean.T,
        cross_gain=F @ covariance[: F.shape[1]] @ (gain * np.exp(gain @ found.mean)[:, None]).T,
        by_log=by_log if n_logs > 1 else None,
        logs=() if r.log is None else tuple(np.unique(r.log).tolist()),
        drift=np.sqrt(np.mean(drift**2, axis=1)),
        delay=late,
        sigma_delay=np.hypot(spread(delay), resolution(r) if found.delay else 0.0) * np.ones(n_d),
    )
