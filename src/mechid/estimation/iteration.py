"""The loop that all weighted estimators share: solve, look at the residuals, weigh anew.

Values need the noise of each channel, and its colour, as weights; both are seen in the residuals of
the values. Rows are whitened and divided by the noise, an estimator solves the linear problem that
this makes, and so on until nothing changes any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from mechid.errors import DataError
from mechid.estimation.anderson import Anderson
from mechid.estimation.channels import Channels
from mechid.estimation.effective import correlation_factors
from mechid.estimation.estimate import Agreement, Estimate
from mechid.estimation.estimate_warnings import coloured_residuals, estimate_warnings
from mechid.estimation.linear import Solution, condition, least_squares
from mechid.estimation.noise import (
    channel_noise,
    relative_variances,
    root_mean_square,
    rounding_noise,
    settled,
    student_efficiency,
)
from mechid.estimation.options import one_of
from mechid.estimation.regression import Bools, Floats, Ints
from mechid.estimation.whitening import (
    WHITE,
    Colour,
    Stretches,
    fit_colour,
    log_jacobian,
    stretches,
    whitened,
)

# "estimated" from the residuals, not below what is declared; or "declared" and taken as it is.
NoiseOption: TypeAlias = Literal["estimated", "declared"]
# Rows (m,) or (m, k) as measured → whitened, in units of the noise.
Transform: TypeAlias = Callable[[Floats], Floats]
# Solves A x = t, rows in units of the noise; the transform is for other matrices with such rows.
Solve: TypeAlias = Callable[[Floats, Floats, Transform], Solution]
# Noise of each channel from residuals, their leverage, the channel of each row, n_d, rows of zeros.
Spread: TypeAlias = Callable[[Floats, Floats, Ints, int, Ints | int], Floats]

_ITERATIONS = 60
# Orders of colour may change in the first iterations only; they could alternate for ever.
_FREE_ORDERS = 4
# Residuals this many times larger or smaller than declared lead to a note.
_FAR = 2.0
# Settled: noise to a millionth, values to a thousandth of their standard deviation or to near
# rounding.
_NOISE_CHANGE, _VALUE_CHANGE, _SAME = 1e-6, 1e-3, 1e-12


@dataclass(frozen=True, eq=False)
class Fit:
    """Where the loop ended.

    Attributes
    ----------
    solution : Solution
        Of the last linear problem, x as in `Channels`.
    noise : array (n_series,)
        Standard deviation of the whole error of each series; NaN without rows.
    colours : tuple of Colour, optional
    residuals : array (m,)
        Of the valid rows.
    A, t : array (m, n), array (m,)
        The last linear problem, whitened rows in units of the noise.
    transform : callable
        Maps measured rows to such rows.
    log_jacobian : float
        Logarithm of its determinant: densities of measured forces are those of rows times this.
    counts : array (n_series,)
        Effective number of samples of each series.
    deviation : array (m,)
        Standard deviation of the noise of each row; of Student's noise its scale.
    share : float
        Part of a sample that each counts: all alike, so that channels keep their weights.
    warnings : tuple of str
    """

    solution: Solution
    noise: Floats
    colours: tuple[Colour, ...] | None
    residuals: Floats
    A: Floats
    t: Floats
    transform: Transform
    log_jacobian: float
    counts: Floats
    deviation: Floats
    share: float
    warnings: tuple[str, ...]


def iterate(
    channels: Channels,
    solve: Solve,
    *,
    noise: NoiseOption = "estimated",
    whiten: bool = False,
    spread: Spread = channel_noise,
    start: Floats | None = None,
    tails: float | None = None,
    proportional: bool = False,
    uncertainty: Floats | None = None,
) -> Fit:
    """Solve and weigh until nothing changes.

    Parameters
    ----------
    channels : Channels
        What is measured as a function of x.
    solve : callable
    noise : "estimated" or "declared"
    whiten : bool
        Whether to model the colour of the noise.
    spread : callable
        How noise is estimated.
    start : array (n,), optional
        First x, if the problem is not linear.
    tails : float, optional
        Degrees of freedom of Student's distribution of the noise; by default it is normal.
    proportional : bool
        Whether noise may grow with the force of each sample.
    uncertainty : array (n,), optional
        Of x: samples count by their effective number, as columns of this size determine it.
    """
    regression, series, names = channels.regression, channels.series, channels.names
    zeros = channels.zeros
    n_s = len(names)
    declared = _declared(channels, noise)
    correlated = whiten or uncertainty is not None
    where = stretches(regression) if correlated else ()
    x = np.zeros(channels.size) if start is None else start
    total = _first_noise(channels, start, noise, declared)
    colours: tuple[Colour, ...] | None = None
    number = np.bincount(series, minlength=n_s) + np.asarray(zeros, dtype=float)
    factors, share = np.ones(n_s), 1.0
    # Variances of rows relative to that of their series, weights of rows with heavy tails, and what
    # part of a sample with normal noise such a row is worth.
    variance, weight, worth = np.ones(len(series)), np.ones(len(series)), np.ones(n_s)
    settled_down, found, rounding, turns = False, total, np.zeros(n_s), Anderson()
    for turn in range(_ITERATIONS):
        counted = np.sqrt(weight * worth[series] * share / variance)
        transform = _transform(total, colours, where, series, counted)
        J, y = channels.linearised(x)
        A, t = transform(J), transform(y)
        used = total, colours
        solution = solve(A, t, transform)
        small = _VALUE_CHANGE * np.linalg.norm(solution.root, axis=1) + _SAME * np.abs(x)
        still = bool(np.all(np.abs(solution.x - x) <= small))
        x = solution.x
        e = channels.residuals(x)
        if turn == 0:
            rounding = rounding_noise(J, x, y, series, n_s, zeros)
        # Rounding errors never converge, and their colour changes.
        exact = root_mean_square(e, series, n_s, zeros) <= rounding
        if whiten:
            colours = _colours(e, where, exact, colours if turn >= _FREE_ORDERS else None)
        elif uncertainty is not None and turn < _FREE_ORDERS:
            # Outliers would hide what the other residuals have in common.
            seen = e * np.sqrt(weight)
            factors = np.where(exact, 1.0, correlation_factors(seen, J * uncertainty, where))
            share = float(np.sum(number) / np.sum(number * factors))
        ratio = np.ones(n_s) if colours is None else np.array([c.ratio for c in colours])
        white = e if colours is None else whitened(e, where, colours)
        if proportional:
            variance = relative_variances(e, channels.forces - e, series, n_s)
        # Leverages are those of weighted rows; a row that counts less also explains itself less.
        scaled = white * np.sqrt(weight / variance)
        found = spread(scaled, solution.leverage, series, n_s, zeros) * ratio
        last = total
        if noise == "estimated":
            total = settled(found, declared, rounding, series, names)
        before = weight
        if tails is not None:
            u = white * (ratio / total)[series] / np.sqrt(variance)
            weight = (tails + 1.0) / (tails + u**2)
            worth = student_efficiency(u, weight, tails, series, n_s)
        change = np.abs(total / last - 1.0)
        still |= turn > 1 and bool(np.all(exact))
        if turn and still and not np.any(change > _NOISE_CHANGE):
            settled_down = True
            break
        if turn >= _FREE_ORDERS and noise == "estimated" and not whiten:
            total, weight = _continued(turns, (last, before), (total, weight))
    return Fit(
        solution,
        total,
        colours,
        e,
        A,
        t,
        transform,
        _log_jacobian(*used, where, share * number),
        number / factors,
        total[series] * np.sqrt(variance),
        share,
        _notes(names, found, declared, settled_down),
    )


def weigh(channels: Channels, noise: NoiseOption = "estimated") -> tuple[Floats, Floats]:
    """Return A (m, b) and t (m,) in units of the noise that a loop starts with."""
    A, t, _ = channels.rows
    total = _first_noise(channels, None, noise, _declared(channels, noise))
    transform = _transform(total, None, (), channels.series, np.ones(len(t)))
    return transform(A), transform(t)


def finish(
    name: str,
    channels: Channels,
    fit: Fit,
    *,
    prior: bool = False,
    known: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
    agreement: Agreement | None = None,
    resting: tuple[str, ...] = (),
    evidence: float | None = None,
) -> Estimate:
    """Return the estimate of a fit; gains and offsets are kept apart."""
    r = channels.regression
    b = len(r.parameters)
    T = fit.solution.root[:b]
    values = fit.solution.x[:b]
    kappa = condition(fit.A[:, :b])
    sigma = np.linalg.norm(T, axis=1)
    said = estimate_warnings(r.parameters, values, sigma, kappa, fit.solution.unseen, prior=prior)
    # Samples that count by their effective number are not taken as independent.
    plain = fit.colours is None and fit.share == 1.0 and r.zeros is None
    colour = coloured_residuals(r, fit.residuals) if plain else ()
    return Estimate(
        name,
        r.parameters,
        values,
        np.asarray(T @ T.T),
        r.channels,
        _of_channels(fit, channels),
        r.unstacked(fit.residuals),
        kappa,
        known=known,
        warnings=(*warnings, *said, *fit.warnings, *colour),
        agreement=agreement,
        errors=channels.errors(fit.solution),
        colour=_colours_of_channels(fit, channels),
        resting=resting,
        evidence=evidence,
    )


def _of_channels(fit: Fit, channels: Channels) -> Floats:
    """Return the noise of each channel (n_d,) in all its samples; NaN without rows."""
    n_d, series = len(channels.regression.channels), channels.series
    count = np.bincount(series, minlength=len(fit.noise))
    relative = np.bincount(series, (fit.deviation / fit.noise[series]) ** 2, len(fit.noise))
    with np.errstate(invalid="ignore"):
        noise = (fit.noise * np.sqrt(relative / count)).reshape(-1, n_d)
        if len(noise) == 1:
            return np.asarray(noise[0])
        share = count.reshape(-1, n_d) / np.sum(count.reshape(-1, n_d), axis=0)
        return np.asarray(np.sqrt(np.sum(share * np.where(share > 0, noise, 0.0) ** 2, axis=0)))


def _colours_of_channels(fit: Fit, channels: Channels) -> tuple[Floats, ...] | None:
    """Return the coefficients of each channel, of several logs those of all its samples."""
    if fit.colours is None:
        return None
    n_d = len(channels.regression.channels)
    if len(fit.colours) == n_d:
        return tuple(colour.coefficients for colour in fit.colours)
    e, where = fit.residuals / fit.deviation, stretches(channels.regression)
    found = (fit_colour([e[part] for parts in where[j::n_d] for part in parts]) for j in range(n_d))
    return tuple(colour.coefficients for colour in found)


def _declared(channels: Channels, noise: NoiseOption) -> Floats:
    """Return the declared noise of each series (n_series,); zero where none is."""
    one_of("noise", noise, "estimated", "declared")
    r = channels.regression
    declared = np.zeros(len(r.channels)) if r.noise is None else r.noise
    if noise == "declared":
        for j in np.unique(channels.channel):
            if declared[j] == 0:
                raise DataError(
                    f"no error of force {r.channels[j]} is declared",
                    remedy="declare its standard deviation, or have the noise estimated",
                )
    return np.tile(declared, channels.n_logs)


def _first_noise(
    channels: Channels, start: Floats | None, noise: NoiseOption, declared: Floats
) -> Floats:
    """Return the noise to start with (n_series,): what plain least squares leaves, and never zero.

    The prior is not used: too large a noise would make the data agree with anything.
    """
    if noise == "declared":
        return declared
    series, n_s, zeros = channels.series, len(channels.names), channels.zeros
    J, y = channels.linearised(np.zeros(channels.size) if start is None else start)
    size = root_mean_square(y, series, n_s, zeros)
    size = np.where(size > 0, size, 1.0)
    solved = least_squares(J / size[series, None], y / size[series], int(np.sum(zeros)))
    found = channel_noise(y - J @ solved.x, solved.leverage, series, n_s, zeros)
    rounding = rounding_noise(J, solved.x, y, series, n_s, zeros)
    return np.maximum(np.where(np.isnan(found), size, found), np.maximum(declared, rounding))


def _continued(
    turns: Anderson, last: tuple[Floats, Floats], now: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return noise (n_series,) and weights of rows (m,) to go on with, after a turn has led from
    the last ones to these."""
    total, weight = now
    used = ~np.isnan(total)
    # All weights together count as one number.
    share = 1.0 / np.sqrt(max(len(weight), 1))
    x, to = (np.append(np.log(t[used]), share * np.log(w)) for t, w in (last, now))
    k = int(np.count_nonzero(used))
    found = turns.next(x, to)
    continued = total.copy()
    continued[used] = np.exp(found[:k])
    return continued, np.exp(found[k:] / share)


def _transform(
    total: Floats,
    colours: tuple[Colour, ...] | None,
    where: Stretches,
    series: Ints,
    factor: Floats,
) -> Transform:
    """Return what makes white rows in units of the noise, times a factor of each row (m,)."""
    if colours is None:
        size = total[series] / factor
        return lambda rows: (rows.T / size).T
    white = (total / np.array([c.ratio for c in colours]))[series] / factor
    return lambda rows: (whitened(rows, where, colours).T / white).T


def _log_jacobian(
    total: Floats, colours: tuple[Colour, ...] | None, where: Stretches, counts: Floats
) -> float:
    """Return the log of the determinant of a transform, samples counted by their effective number.

    Weights of heavy tails are left out: densities of different tails are not compared by it.
    """
    ratio = 1.0 if colours is None else np.array([c.ratio for c in colours])
    first = 0.0 if colours is None else log_jacobian(where, colours)
    used = counts > 0
    return first - float(np.sum((counts * np.log(np.where(used, total / ratio, 1.0)))[used]))


def _colours(
    e: Floats, where: Stretches, exact: Bools, before: tuple[Colour, ...] | None
) -> tuple[Colour, ...]:
    orders = [None] * len(where) if before is None else [len(c.coefficients) for c in before]
    return tuple(
        WHITE if rounding else fit_colour([e[part] for part in parts], order)
        for parts, order, rounding in zip(where, orders, exact, strict=True)
    )


def _notes(
    names: tuple[str, ...], found: Floats, declared: Floats, settled_down: bool
) -> tuple[str, ...]:
    notes = []
    for j in np.flatnonzero((declared > 0) & ~np.isnan(found)):
        sizes = f"({found[j]:.3g} against {declared[j]:.3g})"
        if found[j] < declared[j] / _FAR:
            notes.append(
                f"the residuals of force {names[j]} are much smaller than its declared error "
                f"{sizes}; the declared error was used"
            )
        if found[j] > declared[j] * _FAR:
            notes.append(
                f"the residuals of force {names[j]} are much larger than its declared error "
                f"{sizes}: the model is incomplete, or the declared error is wrong"
            )
    if not settled_down:
        notes.append(f"noise and values did not converge in {_ITERATIONS} iterations")
    return tuple(notes)
