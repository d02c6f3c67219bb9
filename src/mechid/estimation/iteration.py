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
from mechid.estimation.linear import Solution, condition, least_squares
from mechid.estimation.noise import channel_noise, root_mean_square, rounding_noise, settled
from mechid.estimation.options import one_of
from mechid.estimation.regression import Bools, Floats, Ints, Regression
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
# Noise of each channel from residuals, their leverage, the channel of each row and n_d.
Spread: TypeAlias = Callable[[Floats, Floats, Ints, int], Floats]

_ITERATIONS = 100
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
    noise : array (n_d,)
        Standard deviation of the whole error of each channel; NaN without rows.
    colours : tuple of Colour, optional
    residuals : array (m,)
        Of the valid rows.
    A, t : array (m, n), array (m,)
        The last linear problem, whitened rows in units of the noise.
    transform : callable
        Maps measured rows to such rows.
    log_jacobian : float
        Logarithm of its determinant: densities of measured forces are those of rows times this.
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
    warnings: tuple[str, ...]


def iterate(
    channels: Channels,
    solve: Solve,
    *,
    noise: NoiseOption = "estimated",
    whiten: bool = False,
    spread: Spread = channel_noise,
    start: Floats | None = None,
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
    """
    regression, channel = channels.regression, channels.channel
    names = regression.channels
    n_d = len(names)
    declared = _declared(regression, noise, channel)
    where = stretches(regression.valid, regression.time, regression.log) if whiten else ()
    x = np.zeros(channels.size) if start is None else start
    total = _first_noise(channels, start, noise, declared)
    colours: tuple[Colour, ...] | None = None
    settled_down, found, rounding = False, total, np.zeros(n_d)
    for turn in range(_ITERATIONS):
        transform, log_det = _transform(total, colours, where, channel)
        J, y = channels.linearised(x)
        A, t = transform(J), transform(y)
        solution = solve(A, t, transform)
        small = _VALUE_CHANGE * np.linalg.norm(solution.root, axis=1) + _SAME * np.abs(x)
        still = bool(np.all(np.abs(solution.x - x) <= small))
        x = solution.x
        e = channels.residuals(x)
        if turn == 0:
            rounding = rounding_noise(J, x, y, channel, n_d)
        # Rounding errors never converge, and their colour changes.
        exact = root_mean_square(e, channel, n_d) <= rounding
        if whiten:
            colours = _colours(e, where, exact, colours if turn >= _FREE_ORDERS else None)
        ratio = np.ones(n_d) if colours is None else np.array([c.ratio for c in colours])
        white = e if colours is None else whitened(e, where, colours)
        found = spread(white, solution.leverage, channel, n_d) * ratio
        last = total
        if noise == "estimated":
            total = settled(found, declared, rounding, channel, names)
        change = np.abs(total / last - 1.0)
        still |= turn > 1 and bool(np.all(exact))
        if turn and still and not np.any(change > _NOISE_CHANGE):
            settled_down = True
            break
    return Fit(
        solution,
        total,
        colours,
        e,
        A,
        t,
        transform,
        log_det,
        _notes(names, found, declared, settled_down),
    )


def weigh(channels: Channels, noise: NoiseOption = "estimated") -> tuple[Floats, Floats]:
    """Return A (m, b) and t (m,) in units of the noise that a loop starts with."""
    A, t, channel = channels.rows
    declared = _declared(channels.regression, noise, channel)
    transform, _ = _transform(_first_noise(channels, None, noise, declared), None, (), channel)
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
    colour = coloured_residuals(r, fit.residuals) if fit.colours is None else ()
    return Estimate(
        name,
        r.parameters,
        values,
        np.asarray(T @ T.T),
        r.channels,
        fit.noise,
        r.unstacked(fit.residuals),
        kappa,
        known=known,
        warnings=(*warnings, *said, *fit.warnings, *colour),
        agreement=agreement,
        errors=channels.errors(fit.solution),
        colour=None if fit.colours is None else tuple(c.coefficients for c in fit.colours),
        resting=resting,
        evidence=evidence,
    )


def _declared(regression: Regression, noise: NoiseOption, channel: Ints) -> Floats:
    one_of("noise", noise, "estimated", "declared")
    n_d = len(regression.channels)
    declared = np.zeros(n_d) if regression.noise is None else regression.noise
    if noise == "declared":
        for j in np.unique(channel):
            if declared[j] == 0:
                raise DataError(
                    f"no error of force {regression.channels[j]} is declared",
                    remedy="declare its standard deviation, or have the noise estimated",
                )
    return declared


def _first_noise(
    channels: Channels, start: Floats | None, noise: NoiseOption, declared: Floats
) -> Floats:
    """Return the noise to start with (n_d,): what plain least squares leaves, and never zero.

    The prior is not used: too large a noise would make the data agree with anything.
    """
    if noise == "declared":
        return declared
    channel, n_d = channels.channel, len(channels.regression.channels)
    J, y = channels.linearised(np.zeros(channels.size) if start is None else start)
    size = root_mean_square(y, channel, n_d)
    size = np.where(size > 0, size, 1.0)
    solved = least_squares(J / size[channel, None], y / size[channel])
    found = channel_noise(y - J @ solved.x, solved.leverage, channel, n_d)
    rounding = rounding_noise(J, solved.x, y, channel, n_d)
    return np.maximum(np.where(np.isnan(found), size, found), np.maximum(declared, rounding))


def _transform(
    total: Floats, colours: tuple[Colour, ...] | None, where: Stretches, channel: Ints
) -> tuple[Transform, float]:
    """Return what makes white rows in units of the noise, and the log of its determinant."""
    if colours is None:
        size = total[channel]
        return lambda rows: (rows.T / size).T, -float(np.sum(np.log(size)))
    white = (total / np.array([c.ratio for c in colours]))[channel]
    log_det = log_jacobian(where, colours) - float(np.sum(np.log(white)))
    return lambda rows: (whitened(rows, where, colours).T / white).T, log_det


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
