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
from mechid.estimation.channels import Channels
from mechid.estimation.estimate import Agreement, Estimate
from mechid.estimation.estimate_warnings import coloured_residuals, estimate_warnings
from mechid.estimation.estimator import one_of
from mechid.estimation.linear import Solution, condition, least_squares
from mechid.estimation.noise import (
    channel_noise,
    root_mean_square,
    rounding_noise,
    settled,
)
from mechid.estimation.regression import Bools, Floats, Ints
from mechid.estimation.whitening import (
    WHITE,
    Colour,
    Stretches,
    fit_colour,
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
    warnings : tuple of str
    """

    solution: Solution
    noise: Floats
    colours: tuple[Colour, ...] | None
    residuals: Floats
    A: Floats
    t: Floats
    transform: Transform
    warnings: tuple[str, ...]


def iterate(
    channels: Channels,
    solve: Solve,
    *,
    noise: NoiseOption = "estimated",
    whiten: bool = False,
    spread: Spread = channel_noise,
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
    """
    series, names, zeros = channels.series, channels.names, channels.zeros
    n_s = len(names)
    declared = _declared(channels, noise)
    where = stretches(channels.regression) if whiten else ()
    J, y = channels.problem
    x = np.zeros(channels.size)
    total = _first_noise(channels, noise, declared)
    colours: tuple[Colour, ...] | None = None
    settled_down, found, rounding = False, total, np.zeros(n_s)
    for turn in range(_ITERATIONS):
        transform = _transform(total, colours, where, series)
        A, t = transform(J), transform(y)
        solution = solve(A, t, transform)
        small = _VALUE_CHANGE * np.linalg.norm(solution.root, axis=1) + _SAME * np.abs(x)
        still = bool(np.all(np.abs(solution.x - x) <= small))
        x = solution.x
        e = y - J @ x
        if turn == 0:
            rounding = rounding_noise(J, x, y, series, n_s, zeros)
        # Rounding errors never converge, and their colour changes.
        exact = root_mean_square(e, series, n_s, zeros) <= rounding
        if whiten:
            colours = _colours(e, where, exact, colours if turn >= _FREE_ORDERS else None)
        ratio = np.ones(n_s) if colours is None else np.array([c.ratio for c in colours])
        white = e if colours is None else whitened(e, where, colours)
        found = spread(white, solution.leverage, series, n_s, zeros) * ratio
        last = total
        if noise == "estimated":
            total = settled(found, declared, rounding, series, names)
        still |= turn > 1 and bool(np.all(exact))
        if turn and still and not np.any(np.abs(total - last) > _NOISE_CHANGE * last):
            settled_down = True
            break
    notes = _notes(names, found, declared, settled_down)
    return Fit(solution, total, colours, e, A, t, transform, notes)


def weigh(channels: Channels, noise: NoiseOption = "estimated") -> tuple[Floats, Floats]:
    """Return A (m, b) and t (m,) in units of the noise that a loop starts with."""
    A, t, _ = channels.rows
    total = _first_noise(channels, noise, _declared(channels, noise))
    transform = _transform(total, None, (), channels.series)
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
) -> Estimate:
    """Return the estimate of a fit; offsets are kept apart."""
    r = channels.regression
    b = len(r.parameters)
    T = fit.solution.root[:b]
    values = fit.solution.x[:b]
    kappa = condition(fit.A[:, :b])
    sigma = np.linalg.norm(T, axis=1)
    said = estimate_warnings(r.parameters, values, sigma, kappa, fit.solution.unseen, prior=prior)
    plain = fit.colours is None and r.zeros is None
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
    )


def _of_channels(fit: Fit, channels: Channels) -> Floats:
    """Return the noise of each channel (n_d,) in all its samples; NaN without rows."""
    n_d = len(channels.regression.channels)
    noise = fit.noise.reshape(-1, n_d)
    if len(noise) == 1:
        return np.asarray(noise[0])
    count = np.bincount(channels.series, minlength=noise.size).reshape(-1, n_d)
    with np.errstate(invalid="ignore"):
        share = count / np.sum(count, axis=0)
        return np.asarray(np.sqrt(np.sum(share * np.where(share > 0, noise, 0.0) ** 2, axis=0)))


def _colours_of_channels(fit: Fit, channels: Channels) -> tuple[Floats, ...] | None:
    """Return the coefficients of each channel, of several logs those of all its samples."""
    if fit.colours is None:
        return None
    n_d = len(channels.regression.channels)
    if len(fit.colours) == n_d:
        return tuple(colour.coefficients for colour in fit.colours)
    e = fit.residuals / fit.noise[channels.series]
    where = stretches(channels.regression)
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


def _first_noise(channels: Channels, noise: NoiseOption, declared: Floats) -> Floats:
    """Return the noise to start with (n_series,): what plain least squares leaves, and never zero.

    The prior is not used: too large a noise would make the data agree with anything.
    """
    if noise == "declared":
        return declared
    series, n_s, zeros = channels.series, len(channels.names), channels.zeros
    J, y = channels.problem
    size = root_mean_square(y, series, n_s, zeros)
    size = np.where(size > 0, size, 1.0)
    solved = least_squares(J / size[series, None], y / size[series], int(np.sum(zeros)))
    found = channel_noise(y - J @ solved.x, solved.leverage, series, n_s, zeros)
    rounding = rounding_noise(J, solved.x, y, series, n_s, zeros)
    return np.maximum(np.where(np.isnan(found), size, found), np.maximum(declared, rounding))


def _transform(
    total: Floats, colours: tuple[Colour, ...] | None, where: Stretches, series: Ints
) -> Transform:
    """Return what makes white rows in units of the noise."""
    if colours is None:
        size = total[series]
        return lambda rows: (rows.T / size).T
    white = (total / np.array([c.ratio for c in colours]))[series]
    return lambda rows: (whitened(rows, where, colours).T / white).T


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
