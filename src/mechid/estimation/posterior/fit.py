"""Fit of everything at once: linearise, weigh, sample, and again.

With u = exp(-ℓ) for a gain 1 + g = exp(ℓ), a measured force y = F(t - δ)/u + o + r + ε becomes

    u y = F(t - δ) + u (o + r) + u ε,

in which F = W φ + known and ℓ stand side by side: a common factor of sensor and parameters is a
straight line, which a chain walks along. About the last estimate (hats)

    û y + ℓ̂ F̂ - δ̂ F̂' - known - W φ0 = W (φ - φ0) + F̂ ℓ - F̂' δ + û (o + r) + û ε.

What no component explains is smooth, and the same again whenever a motion repeats itself. Samples
count by their effective number (`effective.py`), so that a model that lacks something is not
trusted more than it deserves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from mechid.errors import DataError
from mechid.estimation.effective import correlation_factors
from mechid.estimation.estimate import LIKELY
from mechid.estimation.late import late
from mechid.estimation.noise import relative_variances, student_efficiency
from mechid.estimation.posterior.cad import cad_components
from mechid.estimation.posterior.component import FAMILIES, Component, Family, directions
from mechid.estimation.posterior.lacking import possible_components
from mechid.estimation.posterior.sampler import GRID, Block, Draws, Sampler
from mechid.estimation.posterior.sensors import (
    DRIFT_TERMS,
    cosines,
    sensor_components,
    unit_gain,
    usual_step,
)
from mechid.estimation.posterior.start import samples_late
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Ints, Regression
from mechid.estimation.sensed import late_values
from mechid.estimation.whitening import fit_colour, segments, stretches

# Turns of linearisation; sweeps of the first ones, of the last, and of the last with what the model
# has decided, each with those that are not counted.
_TURNS, _FIRST, _LAST, _CHOSEN = 6, (20, 10), (130, 30), (90, 10)
# Degrees of freedom of Student's noise that are tried; infinite: normal.
_TAILS = (3.0, 8.0, np.inf)
# First noise, relative to the forces: so small that all errors that may explain them are tried.
_START = 0.01
_FEWEST = 3  # values of a force that tell its noise
# Delays that are tried beside an estimate, at most so many samples away, with so many samples.
_TRIED, _NEAR, _SAMPLES = 12, 0.3, 2000
# Part of the way to the next sample, and to the one before, at which forces are compared.
_BESIDE = 0.25


@dataclass(frozen=True, eq=False)
class Fitted:
    """The posterior of all coefficients.

    Attributes
    ----------
    regression : Regression
    prior : Prior
        Of its parameters.
    components : tuple of Component
    start : array (c + 1,)
        Where each has its coefficients.
    draws : Draws
        Averaged over what may be there.
    mean : array (K,)
        What is reported: machine and sensors with what is more likely there than not.
    gains, delay : array (n_d,), float
        ℓ of each channel, and seconds.
    residuals : array (m,)
        Of the valid rows, N or N m.
    weights, variance : array (m,)
        Of these rows: by their tails, and their variance relative to that of the series.
    tails : array (n_s,)
        Degrees of freedom of the noise of each series.
    share : float
        Part of a sample that each counts.
    """

    regression: Regression
    prior: Prior
    components: tuple[Component, ...]
    start: Ints
    draws: Draws
    mean: Floats
    gains: Floats
    delay: float
    residuals: Floats
    weights: Floats
    variance: Floats
    tails: Floats
    share: float

    @property
    def present(self) -> dict[str, float]:
        """Probability that each component is there, by name."""
        return {c.name: float(p) for c, p in zip(self.components, self.draws.present, strict=True)}

    def of(self, component: int) -> slice:
        """Return where a component has its coefficients."""
        return slice(int(self.start[component]), int(self.start[component + 1]))

    @property
    def covariance(self) -> Floats:
        """Covariance of the coefficients about what is reported, (K, K)."""
        off = self.draws.mean - self.mean
        return self.draws.covariance + np.outer(off, off)


class _Rows:
    """The valid rows of a problem, linearised again and again."""

    def __init__(self, r: Regression, prior: Prior, components: Sequence[Component]) -> None:
        self.r, self.prior, self.components = r, prior, components
        self.sample, self.channel = np.nonzero(r.valid)
        self.n_d = len(r.channels)
        self.series = r.logs[self.sample] * self.n_d + self.channel
        self.n_s = self.n_d * (int(r.logs.max(initial=0)) + 1)
        self.members = [np.flatnonzero(self.series == s) for s in range(self.n_s)]
        self.y = r.tau[self.sample, self.channel]
        sizes = [c.size for c in components]
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.F = directions(components)
        self.lacking = [c.forces for c in components if c.forces is not None]
        # Coefficients of the machine: of its parameters, and of what the model lacks.
        self.n_phi = self.F.shape[1]
        self.n_F = self.n_phi + sum(x.shape[-1] for x in self.lacking)
        self.gains = [(i, c) for i, c in enumerate(components) if c.family.name == "gains"]
        self.delays = [i for i, c in enumerate(components) if c.family.name == "delays"]
        self.step = usual_step(r.time)
        self.where = stretches(r)
        self.rms = np.array([
            float(np.sqrt(np.mean(self.y[own] ** 2))) if own.size else 0.0 for own in self.members
        ])  # fmt: skip
        self.delay = 0.0
        self.order = sorted(
            range(self.n_s), key=lambda s: (s // self.n_d, r.channels[s % self.n_d])
        )
        lag = 0.0
        if self.delays:
            lacking = np.concatenate([np.zeros((*r.tau.shape, 0)), *self.lacking], axis=2)
            rate = np.zeros(r.tau.shape)
            rate[r.valid] = self.step * self._rate(
                prior.mean, (r.W @ prior.mean + r.known)[r.valid]
            )
            around = {0.0: np.concatenate([r.W, r.known[..., None]], axis=-1)}
            if self.beside is not None:
                around |= dict(zip((-_BESIDE, _BESIDE), self.beside[1], strict=True))
            lag = samples_late(r, prior.mean, self.F, rate, around, lacking)
        self.linearise(np.zeros(self.start[-1]), lag * self.step, first=True)

    def linearise(self, theta: Floats, delay: float, *, first: bool = False) -> None:
        """Set matrix and target about an estimate; the first time measured forces tell F̂."""
        r, phi, gains = self.r, self.phi(theta), self.gains_of(theta)
        moved, self.delay = first or delay != self.delay, delay
        if moved:
            W, known = r.W, r.known
            if delay:
                W, known, W_rate, known_rate = late(r, np.full(self.n_d, delay))
                self.rate = (W_rate @ phi + known_rate)[r.valid]
            rows = W[self.sample, self.channel]
            lacking = [self._late(x, delay)[r.valid] for x in self.lacking]
            self.base = np.concatenate([rows @ self.F, *lacking], axis=1)
            self.at_prior = (rows @ self.prior.mean) + known[self.sample, self.channel]
        force = self.at_prior + self.base @ theta[: self.n_F]
        if not delay:
            self.rate = self._rate(phi, force)
        self.force = self.y if first else force
        self.u = np.exp(-gains)[self.channel]
        self.target = (
            self.u * self.y + gains[self.channel] * self.force - delay * self.rate - self.at_prior
        )

    def refined(self, theta: Floats, delay: float) -> float:
        """Return the delay near one that leaves least, everything else being as estimated: forces
        that jump are no straight line of it."""
        r, some = self.r, np.arange(0, len(self.r.time), max(1, len(self.r.time) // _SAMPLES))
        phi, gains = self.phi(theta), np.exp(self.gains_of(theta))
        whole = np.zeros(r.tau.shape)
        whole[r.valid] = self.residuals(theta)
        # Without the change by a delay in a straight line.
        force = np.zeros(r.tau.shape)
        force[r.valid] = self.at_prior + self.base[:, : self.n_phi] @ theta[: self.n_phi]
        force[r.valid] -= (self.delay_of(theta) - self.delay) * self.rate

        def left(other: float) -> float:
            W, known, *_ = late(r, np.full(self.n_d, other), some)
            e = whole[some] + gains * (force[some] - W @ phi - known)
            size = np.sum(np.where(r.valid[some], np.abs(e), 0.0), axis=0)
            return float(np.sum(np.log(size[size > 0])))

        tried = delay + self.step * np.linspace(-_NEAR, _NEAR, _TRIED)
        return float(min([delay, *tried], key=left))

    def _late(self, forces: Floats, delay: float) -> Floats:
        """Return forces (N, n_d, k) that are late."""
        each = [
            late_values(self.r, x, np.full(self.n_d, delay)) for x in np.moveaxis(forces, -1, 0)
        ]
        return np.stack(each, axis=-1)

    def _rate(self, phi: Floats, force: Floats) -> Floats:
        """Return the time derivative of forces (m,): central differences, between samples where W
        can be told there, as forces may vary faster than their samples show."""
        if not self.delays:
            return np.zeros(len(force))
        if self.slope is not None:
            return np.asarray(self.slope @ np.append(phi, 1.0))
        found = np.zeros(len(force))
        for part in (part for parts in self.where for part in parts if len(part) > 1):
            found[part] = np.gradient(force[part], self.r.time[self.sample[part]])
        return found

    @cached_property
    def slope(self) -> Floats | None:
        """Time derivatives of W, and of what is known as the last column, (m, b + 1)."""
        if self.beside is None:
            return None
        (earlier, later), (before, after) = self.beside
        step = np.where(later > earlier, later - earlier, 1.0)
        found = (after - before) / step[:, None, None]
        return np.asarray(found[self.sample, self.channel])

    @cached_property
    def beside(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]] | None:
        """Times (N,), and W with what is known as the last column (N, n_d, b + 1), a quarter of a
        sample before and after the samples; at the ends of a stretch only on one side."""
        r = self.r
        if r.between is None:
            return None
        time, x = r.between(np.array([_BESIDE, 1.0 - _BESIDE]))
        now = np.concatenate([r.W, r.known[..., None]], axis=-1)
        times, rows = (r.time.copy(), r.time.copy()), (now.copy(), now.copy())
        for part in segments(r, np.arange(len(r.time))):
            last = part[:-1]
            times[0][part[1:]], times[1][last] = time[last, 1], time[last, 0]
            rows[0][part[1:]], rows[1][last] = x[last, 1], x[last, 0]
        return times, rows

    def series_of(self, s: int) -> tuple[Ints, Floats]:
        """Return coefficients (k,) that act on a series, and its matrix (n, k)."""
        own, (log, d) = self.members[s], divmod(s, self.n_d)
        at = [np.arange(self.n_F)]
        columns = [self.base[own]]
        for i, c in enumerate(self.components):
            if c.columns is None or c.channel not in (-1, d) or c.log not in (-1, log):
                continue
            at.append(np.arange(*self.start[i : i + 2]))
            if c.family.name == "gains":
                columns.append(unit_gain(c) * self.force[own, None])
            elif c.family.name == "delays":
                columns.append(-c.family.usual * self.step * self.rate[own, None])
            else:
                columns.append(self.u[own, None] * c.columns[self.sample[own]])
        return np.concatenate(at), np.concatenate(columns, axis=1)

    def blocks(self, law: Law) -> list[Block]:
        """Return what the weighted rows of each series say, in units of measured forces."""
        found = []
        for s, own in enumerate(self.members):
            at, A = self.series_of(s)
            root = np.sqrt(law.weights[own] / law.variance[own]) / self.u[own]
            A, t = A * root[:, None], self.target[own] * root
            G, g, square = A.T @ A, A.T @ t, float(t @ t)
            if law.slow[s] > 1:
                # Noise as slow as a drift has a variance of its own.
                Q = np.linalg.qr(self.slow[s] * root[:, None])[0]
                part, QA, Qt = 1.0 - 1.0 / law.slow[s], Q.T @ A, Q.T @ t
                G, g = G - part * QA.T @ QA, g - part * QA.T @ Qt
                square -= part * float(Qt @ Qt)
            found.append(Block(at, G, g, square, len(own), float(law.worth[s])))
        return found

    @cached_property
    def slow(self) -> list[Floats]:
        """Constant and cosines of a drift at the rows of each series, (n, 1 + K)."""
        found = []
        for s, own in enumerate(self.members):
            log = self.r.logs == s // self.n_d
            waves = (
                cosines(self.r.time, log)[self.sample[own]]
                if own.size
                else np.zeros((0, DRIFT_TERMS))
            )
            found.append(np.column_stack([np.ones(len(own)), waves]))
        return found

    def enough(self) -> None:
        """Reject a force with too few values to tell its noise, if that is not declared.

        Raises
        ------
        DataError
        """
        if not len(self.y):
            raise DataError("no measured force is usable", remedy="measure at least one force")
        declared = np.zeros(self.n_d) if self.r.noise is None else self.r.noise
        for s, own in enumerate(self.members):
            if 0 < len(own) < _FEWEST and declared[s % self.n_d] == 0:
                raise DataError(
                    f"force {self.r.channels[s % self.n_d]} has too few measured values to "
                    "estimate its noise",
                    remedy="measure longer, reduce the model, or declare the error of this force",
                )

    def residuals(self, theta: Floats) -> Floats:
        """Return measured less expected forces of all rows, N or N m."""
        gain = np.exp(self.gains_of(theta))[self.channel]
        force = self.at_prior + self.base @ theta[: self.n_F]
        e = self.y - gain * (force - (self.delay_of(theta) - self.delay) * self.rate)
        for i, c in enumerate(self.components):
            if c.family.owner == "log" and c.columns is not None:
                added = c.columns @ theta[slice(*self.start[i : i + 2])]
                e -= np.where(self.channel == c.channel, added[self.sample], 0.0)
        return np.asarray(e)

    def phi(self, theta: Floats) -> Floats:
        """Return the parameters."""
        return np.asarray(self.prior.mean + self.F @ theta[: self.n_phi])

    def gains_of(self, theta: Floats) -> Floats:
        """Return ℓ of each channel."""
        found = np.zeros(self.n_d)
        for i, c in self.gains:
            found[slice(None) if c.channel < 0 else c.channel] += (
                unit_gain(c) * theta[self.start[i]]
            )
        return found

    def delay_of(self, theta: Floats) -> float:
        """Return the delay in seconds."""
        return sum(
            float(self.components[i].family.usual * self.step * theta[self.start[i]])
            for i in self.delays
        )


def fit(
    regression: Regression,
    prior: Prior,
    *,
    families: Mapping[str, Family] = FAMILIES,
    declared_noise: bool = False,
    seed: int = 0,
) -> Fitted:
    """Return the posterior of parameters and of all that may be wrong.

    Parameters
    ----------
    regression : Regression
    prior : Prior
        Of its parameters.
    families : mapping of str to Family
        Of errors that may be there.
    declared_noise : bool
        Whether the noise is as declared; otherwise it is estimated, and not below that.
    seed : int

    Raises
    ------
    DataError
        If CAD values have no errors, a force has too few values, or samples have no order in time.
    """
    if regression.zeros is not None:
        raise DataError("the posterior needs samples in the order of time, got compressed rows")
    prior = prior.select(regression.parameters)
    components: tuple[Component, ...] = (
        *cad_components(prior),
        *possible_components(regression, families),
        *sensor_components(regression, families),
    )
    # The machine comes first, its parameters before all; by name, so that the order of channels is
    # of no matter.
    components = tuple(
        sorted(components, key=lambda c: (c.directions is None, c.forces is None, c.name))
    )
    if not any(c.directions is not None for c in components):
        raise DataError(
            "no standard deviations of the CAD values are declared: nothing would be left "
            "to estimate",
            remedy="declare how uncertain they are, or use an estimator without prior",
        )
    rows = _Rows(regression, prior, components)
    rows.enough()
    sampler = Sampler(components, rows.rms, rows.order, seed)
    least = None if regression.noise is None else np.tile(regression.noise, rows.n_s // rows.n_d)
    run = partial(sampler.run, declared=least, free_noise=not declared_noise)
    state = sampler.start_state(_START * np.where(rows.rms > 0, rows.rms, 1.0))
    law = Law.normal(len(rows.y), rows.n_s)
    share = 1.0
    # Gains are relative to what is left of a force, which the first turn has to tell.
    first = np.array([0 if c.family.name == "gains" else -1 for c in components])
    for turn in range(_TURNS):
        last = turn == _TURNS - 1
        sweeps, burn = _LAST if last else _FIRST
        blocks = rows.blocks(law)
        draws = run(blocks, state, sweeps, burn, share=share, fixed=None if turn else first)
        state, mean = draws.state, draws.mean
        if last:
            # Machine and sensors have something or not; errors of logs are averaged.
            decided = np.array([c.family.owner != "log" for c in components])
            there = (draws.present >= LIKELY) & np.array([c.seen for c in components])
            there |= np.array([not c.family.absent for c in components])
            fixed = np.where(decided, there, -1)
            mean = run(blocks, state, *_CHOSEN, share=share, fixed=fixed).mean
        e = rows.residuals(mean)
        gains, delay = rows.gains_of(mean), rows.delay_of(mean)
        if last:
            break
        late_enough = any(draws.present[i] >= LIKELY for i in rows.delays)
        rows.linearise(mean, rows.refined(mean, delay) if late_enough else 0.0)
        law = _law(rows, e)
        white = e * np.sqrt(law.weights / law.variance)
        share = _share(rows, white, draws)
        law.slow[:] = np.maximum(1.0, share * _slow(rows, white))
    return Fitted(
        regression, prior, components, rows.start, draws, mean, gains, delay,
        e, law.weights, law.variance, law.tails, share,
    )  # fmt: skip


class Law(NamedTuple):
    """Law of the noise: weights by the tails and relative variances of the rows (m,), degrees of
    freedom of each series (n_s,), what one of its rows says, by one with normal noise, and the
    variance of noise as slow as a drift, relative to that which other columns see."""

    weights: Floats
    variance: Floats
    tails: Floats
    worth: Floats
    slow: Floats

    @staticmethod
    def normal(m: int, n_s: int) -> Law:
        """Return that of normal noise."""
        return Law(np.ones(m), np.ones(m), np.full(n_s, np.inf), np.ones(n_s), np.ones(n_s))


def _law(rows: _Rows, e: Floats) -> Law:
    """Return the law of the noise that residuals have: it may grow with the force, and have heavy
    tails, by their likelihood."""
    law = Law.normal(len(e), rows.n_s)
    law.variance[:] = relative_variances(e, rows.y - e, rows.series, rows.n_s)
    for s, own in enumerate(rows.members):
        x = e[own] / np.sqrt(law.variance[own])
        if not np.any(x):
            continue
        best = -np.inf
        for nu in _TAILS:
            weight, size = _tailed(x, nu)
            likelihood = float(np.sum(_log_density(x / size, nu))) - len(x) * float(np.log(size))
            if likelihood > best:
                best, law.tails[s], law.weights[own] = likelihood, nu, weight
                if np.isfinite(nu):
                    series = np.zeros(len(own), dtype=np.int64)
                    law.worth[s] = student_efficiency(x / size, weight, nu, series, 1)[0]
                else:
                    law.worth[s] = 1.0
    return law


def _log_density(x: Floats, nu: float) -> Floats:
    """Return the logarithm of Student's density, or of the normal one for infinite `nu`.

    It is written out, as scipy.stats takes long to load.
    """
    if np.isinf(nu):
        return np.asarray(-(x**2 + np.log(2 * np.pi)) / 2)
    at_zero = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2
    return np.asarray(at_zero - (nu + 1) / 2 * np.log1p(x**2 / nu))


def _tailed(x: Floats, nu: float) -> tuple[Floats, float]:
    """Return weights and scale of residuals with Student's law."""
    size = float(np.sqrt(np.mean(x**2)))
    weight = np.ones(len(x))
    for _ in range(0 if np.isinf(nu) else 30):
        weight = (nu + 1.0) / (nu + (x / size) ** 2)
        size = float(np.sqrt(np.mean(weight * x**2)))
    return weight, size


def _slow(rows: _Rows, e: Floats) -> Floats:
    """Return by how much noise as slow as a drift exceeds white noise of the same size, (n_s,): the
    spectrum of an autoregressive model at the frequencies of a drift."""
    found = np.ones(rows.n_s)
    for s, parts in enumerate(rows.where):
        colour = fit_colour([e[part] for part in parts])
        a, n = colour.coefficients, len(rows.members[s])
        if len(a):
            half_periods = np.arange(1 + DRIFT_TERMS)[:, None] / n
            gain = 1.0 - np.exp(-1j * np.pi * half_periods * np.arange(1, len(a) + 1)) @ a
            found[s] = float(np.mean(1.0 / np.abs(gain) ** 2)) / colour.ratio**2
    return found


def _share(rows: _Rows, e: Floats, draws: Draws) -> float:
    """Return the part of a sample that each counts."""
    scale = np.repeat(GRID[draws.state.scale], np.diff(rows.start))[: rows.n_F]
    factors = correlation_factors(e, rows.base * scale, rows.where)
    n = np.array([len(own) for own in rows.members])
    return float(np.sum(n) / np.sum(n * factors))
