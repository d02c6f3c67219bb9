"""Observation matrices at other times than those of the samples, for forces that are late.

Between samples, W is interpolated. A wheel that turns by a radian from one sample to the next makes
W vary faster than the samples show, although the motion itself is smooth. So W between samples is
asked for (`Regression.between`), at twice as many points until splines predict the next ones.

Columns that jump, as that of dry friction does where a joint turns back, are straight lines through
many points: a spline oscillates on both sides of a jump, and through the samples alone no curve
knows when it was. Their rates are those of a spline all the same: how much of a jump a delay moves
past a sample, on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mechid.estimation.whitening import segments

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

    from mechid.estimation.regression import Bools, Floats, Ints, Regression

_DEGREE = 5
# Errors of interpolated columns, relative to their root mean square: what is exact enough, and what
# means that the column varies faster than its samples. In between, more samples are taken while
# they help by this factor.
_EXACT, _ALIASED, _HELPS = 1e-3, 0.1, 4.0
# A column jumps if its slope changes from point to point by more than this part of its root mean
# square, and by as much as half of the largest change at few of its points only.
_JUMP, _SELDOM = 0.5, 0.1
_UNSURE = 0.125  # of a sample: so near to a jump its side is not sure
_LOOKS = 4  # points between two samples where that is looked for
_ROUNDING = 1e-12  # columns that are so small against others of the force
# Samples in one of the record, those of columns that jump, and bytes of W, at most.
_MOST, _FINE, _MEMORY = 16, 64, 1 << 28


class Straight(NamedTuple):
    """Columns of one force that jump: their numbers (k,), times (n,) and values (n, k)."""

    columns: Ints
    time: Floats
    values: Floats

    def __call__(self, t: Floats) -> Floats:
        """Return values at other times, by straight lines."""
        i = np.clip(np.searchsorted(self.time, t, "right") - 1, 0, len(self.time) - 2)
        past = (t - self.time[i]) / (self.time[i + 1] - self.time[i])
        return np.asarray(self.values[i] + (self.values[i + 1] - self.values[i]) * past[:, None])


class Piece(NamedTuple):
    """Samples without a gap, and W and known over time, a curve per force, and what jumps."""

    samples: Ints
    curves: tuple[BSpline, ...]
    jumps: tuple[Straight, ...] = ()


class Late(NamedTuple):
    """W (n, n_d, b) and known (n, n_d) of samples at their times less a delay, and their rates."""

    W: Floats
    known: Floats
    W_rate: Floats
    known_rate: Floats


def late(regression: Regression, delay: Floats, samples: Ints | None = None) -> Late:
    """Return W and known as forces show them that are late.

    Parameters
    ----------
    regression : Regression
    delay : array (n_d,)
        Seconds by which each force is late. Before the first sample of a piece without gaps, and
        after the last, nothing is known: those values are held.
    samples : array (n,) of int, optional
        Increasing; by default all.
    """
    r = regression
    wanted = np.arange(len(r.time)) if samples is None else samples
    now = np.concatenate([r.W[wanted], r.known[wanted, :, None]], axis=-1)
    found, rate = now, np.zeros_like(now)
    for own, curves, jumps in r.pieces:
        t = r.time[own]
        here = np.flatnonzero((wanted >= own[0]) & (wanted <= own[-1]))
        for j, curve in enumerate(curves):
            at = np.clip(r.time[wanted[here]] - delay[j], t[0], t[-1])
            found[here, j], rate[here, j] = curve(at), curve(at, 1)
            if jumps:
                found[here[:, None], j, jumps[j].columns] = jumps[j](at)
    return Late(found[..., :-1], found[..., -1], rate[..., :-1], rate[..., -1])


def resolution(regression: Regression) -> Floats:
    """Return the time to which jumps of the columns of each force are known, (n_d,); 0 for none.

    Samples beside a jump decide on a delay, so that it is not known better than this.
    """
    found = np.zeros(regression.tau.shape[1])
    for _, _, jumps in regression.pieces:
        for j, straight in enumerate(jumps):
            if straight.columns.size:
                found[j] = max(found[j], float(np.median(np.diff(straight.time))))
    return found


def beside_jumps(regression: Regression, delay: Floats) -> Bools:
    """Return the samples (N, n_d) that delays leave next to a jump of a column.

    On which side of the jump they are is not sure: forces may be off by the whole jump.
    """
    r, found = regression, np.zeros(regression.tau.shape, dtype=bool)
    for own, _, jumps in r.pieces:
        t = r.time[own]
        near = _UNSURE * float(np.median(np.diff(t)))
        for j, straight in enumerate(jumps):
            if not straight.columns.size:
                continue
            size = np.sqrt(np.mean(straight.values**2, axis=0))
            steps = np.abs(np.diff(straight.values, axis=0)) > _JUMP * size
            when = straight.time[:-1][np.any(steps, axis=1)]
            i = np.searchsorted(when, t - delay[j] - near)
            found[own, j] = np.append(when, np.inf)[i] < t - delay[j] + near
    return found


def pieces(regression: Regression) -> tuple[Piece, ...]:
    """Return W and known over time, in pieces without a gap."""
    r = regression
    value = np.concatenate([r.W, r.known[..., None]], axis=-1)[:, None]
    time, before = r.time[:, None], np.full(value.shape[2:], np.inf)
    own = segments(r, np.flatnonzero(np.all(np.isfinite(value), axis=(1, 2, 3))))
    found = _through(own, time, value)
    jumps = _jumping(r, own, value)
    while r.between is not None and 2 * time.shape[1] <= _MOST and 2 * value.nbytes <= _MEMORY:
        m = time.shape[1]
        t, seen = r.between((np.arange(m) + 0.5) / m)
        error = _errors(found, t, seen)
        error = np.where(jumps, 0.0, error)
        more = (error > _ALIASED) | ((error > _EXACT) & (_HELPS * error < before))
        if not np.any(more):
            break
        time, value, before = np.hstack([time, t]), np.hstack([value, seen]), error
        found = _through(own, time, value)
    return _with_jumps(r, found, jumps) if np.any(jumps) else found


def _jumping(r: Regression, own: list[Ints], value: Floats) -> Bools:
    """Return which columns of values (N, 1, n_d, b + 1) jump, (n_d, b + 1)."""
    if r.between is not None and _LOOKS * value.nbytes <= _MEMORY:
        value = np.hstack([value, r.between(np.arange(1, _LOOKS) / _LOOKS)[1]])
    shape = value.shape[2:]
    rows = [value[samples[:-1]].reshape(-1, *shape) for samples in own if len(samples) > 3]
    if not rows:
        return np.zeros(shape, dtype=bool)
    bend = np.concatenate([np.abs(np.diff(x, 2, axis=0)) for x in rows])
    most = np.max(bend, axis=0)
    size = np.sqrt(np.mean(np.concatenate(rows) ** 2, axis=0))
    seldom = np.mean(bend > 0.5 * most, axis=0) < _SELDOM
    # Rounding errors of columns that are zero jump from point to point.
    seen = size > _ROUNDING * np.max(size, axis=1, keepdims=True)
    return np.asarray(seen & (most > _JUMP * size) & seldom)


def _with_jumps(r: Regression, found: tuple[Piece, ...], jumps: Bools) -> tuple[Piece, ...]:
    """Return pieces with columns that jump as straight lines through many points."""
    columns = [np.flatnonzero(own) for own in jumps]
    here = np.concatenate([r.W, r.known[..., None]], axis=-1)[:, None]
    times, parts = [r.time[:, None]], [[here[:, :, j, own] for j, own in enumerate(columns)]]
    m = min(_FINE, _MEMORY // here.nbytes)
    finer = [] if r.between is None else map(r.between, np.arange(1, m)[:, None] / m)
    for t, x in finer:
        # One point of each interval at a time: all columns of all points would need much memory.
        times.append(t)
        parts.append([x[:, :, j, own] for j, own in enumerate(columns)])
    time, values = np.hstack(times), [np.hstack(x) for x in zip(*parts, strict=True)]
    pieces = []
    for samples, curves, _ in found:
        t = time[samples].ravel()
        inside = np.flatnonzero(t <= time[samples[-1], 0])  # what follows belongs to no piece
        order = inside[np.argsort(t[inside])]
        straight = (
            Straight(own, t[order], x[samples].reshape(len(t), -1)[order])
            for own, x in zip(columns, values, strict=True)
        )
        pieces.append(Piece(samples, curves, tuple(straight)))
    return tuple(pieces)


def _through(own: list[Ints], time: Floats, value: Floats) -> tuple[Piece, ...]:
    """Return splines through times (N, m) and values (N, m, n_d, b + 1) of pieces."""
    from scipy.interpolate import BSpline, make_interp_spline

    found = []
    for samples in own:
        if len(samples) < 2:
            continue
        t, x = time[samples].ravel(), value[samples].reshape(-1, *value.shape[2:])
        # What follows the last sample belongs to no piece.
        inside = np.flatnonzero(t <= time[samples[-1], 0])
        order = inside[np.argsort(t[inside])]
        whole = make_interp_spline(t[order], x[order], k=min(_DEGREE, len(order) - 1))
        curves = (BSpline(whole.t, whole.c[:, j], whole.k) for j in range(x.shape[1]))
        found.append(Piece(samples, tuple(curves)))
    return tuple(found)


def _errors(found: tuple[Piece, ...], time: Floats, value: Floats) -> Floats:
    """Return errors of splines at other times (N, m), of each column by its size, (n_d, b + 1)."""
    n_d, width = value.shape[2:]
    error, size = np.zeros((n_d, width)), np.zeros((n_d, width))
    for samples, curves, _ in found:
        t, x = time[samples[:-1]].ravel(), value[samples[:-1]].reshape(-1, n_d, width)
        for j, curve in enumerate(curves):
            error[j] += np.sum((curve(t) - x[:, j]) ** 2, axis=0)
            size[j] += np.sum(x[:, j] ** 2, axis=0)
    # Columns of rounding errors are not worth a spline.
    seen = size > _ROUNDING**2 * np.max(size, axis=1, keepdims=True)
    return np.where(seen, np.sqrt(error / np.where(seen, size, 1.0)), 0.0)
