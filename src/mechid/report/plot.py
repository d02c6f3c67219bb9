"""Charts as SVG, for paper and for browsers without scripts: the same data as the live charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from mechid.estimation.regression import Floats, Ints
from mechid.report.numbers import number

SAMPLES = 4000  # of a chart, some for each pixel of its width, so that there is more to see in it


def shown_samples(curves: Sequence[Floats], most: int = SAMPLES) -> Ints:
    """Return which samples to show: in each stretch of time, the least and the largest of every
    curve, so that no peak is lost.

    Parameters
    ----------
    curves : sequence of array (N,)
        NaN where a value is missing.
    most : int
        Largest number of samples returned.
    """
    n = len(curves[0])
    if n <= most:
        return np.arange(n)
    stretches = max(most // (2 * len(curves)), 1)
    edges = np.linspace(0, n, stretches + 1).astype(int)
    taken = {0, n - 1}
    for begin, end in pairwise(edges):
        for curve in curves:
            part = curve[begin:end]
            if np.any(np.isfinite(part)):
                taken |= {begin + int(np.nanargmin(part)), begin + int(np.nanargmax(part))}
    return np.array(sorted(taken))


def listed(values: Floats) -> list[float | None]:
    """Return numbers for JSON; None where a value is missing."""
    return [float(x) if np.isfinite(x) else None for x in values]


_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 520, 58, 12, 8, 34  # pixels
_POINTS = 500  # of a curve, at most
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def plot(spec: Mapping[str, Any], height: int = 220) -> Markup:
    """Return a chart as SVG whose colours the style of the page sets.

    Parameters
    ----------
    spec : mapping
        Of a live chart: `x` and `series` with values (None where one is missing), `y.log`,
        `x.log`, `marks`.
    height : int
        In pixels at a width of 520; the picture is scaled to the page.
    """
    x = _floats(spec["x"]["values"])
    curves = [(series["look"], _floats(series["values"])) for series in spec["series"]]
    across = Axis.of([x], _LEFT, _WIDTH - _RIGHT, log=bool(spec["x"].get("log")), tight=True)
    values = [c[np.isfinite(c)] for _, c in curves]
    span = spec["y"].get("range")
    up = Axis.of(
        [np.array(span)] if span else values,
        height - _BOTTOM,
        _TOP,
        log=bool(spec["y"].get("log")),
        tight=bool(span),
        most=height // 24,
    )
    parts = [_grid(across, up, height)]
    bands = [c for look, c in curves if look == "band"]
    if len(bands) == 2:
        parts.append(_band(across, up, x, *bands))
    parts += [
        f'<path class="{look}" d="{_path(across, up, x, c)}"/>'
        for look, c in curves
        if look != "band"
    ]
    parts += [_mark(across, height, mark) for mark in spec.get("marks", ())]
    label = spec["x"].get("label", "")
    if label:
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        parts.append(f'<text class="middle" x="{middle:g}" y="{height - 4}">{escape(label)}</text>')
    title = escape(spec["title"])
    return Markup(
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{title}">'
        + "".join(parts)
        + "</svg>"
    )


class Axis:
    """From values to pixels, linear or logarithmic, with round ticks."""

    def __init__(self, low: float, high: float, begin: float, end: float, log: bool, most: int):
        self.low, self.high, self.begin, self.end, self.log = low, high, begin, end, log
        self.ticks = _decades(low, high) if log else _round_steps(low, high, most)

    @staticmethod
    def of(
        curves: Sequence[Floats],
        begin: float,
        end: float,
        *,
        log: bool = False,
        tight: bool = False,
        most: int = 7,
    ) -> Axis:
        """Return an axis that holds all finite values of curves."""
        values = np.concatenate([np.ravel(c) for c in curves]) if curves else np.zeros(0)
        values = values[np.isfinite(values) & ((values > 0) if log else True)]
        low, high = (float(values.min()), float(values.max())) if values.size else (0.1, 1.0)
        if log:
            low, high = (low, high) if tight else (low / 1.3, high * 1.3)
            high = high if high > low else 10 * low
        elif high <= low:
            low, high = low - (abs(low) or 1.0) / 2, low + (abs(low) or 1.0) / 2
        elif not tight:
            low, high = low - 0.06 * (high - low), high + 0.06 * (high - low)
        return Axis(low, high, begin, end, log, most)

    def at(self, values: Floats) -> Floats:
        """Return where values lie, in pixels; what is outside lies at the edge."""
        v, low, high = np.clip(values, self.low, self.high), self.low, self.high
        if self.log:
            v, low, high = np.log10(v), math.log10(low), math.log10(high)
        # The share first: lengths in pixels times values near the largest number overflow.
        return np.asarray(self.begin + (self.end - self.begin) * ((v - low) / (high - low)))

    def words(self, tick: float) -> str:
        """Return the text of a tick."""
        if self.log and not 0.01 <= tick < 1e4:
            k = math.floor(math.log10(tick) + 1e-9)
            lead = round(tick / 10.0**k)
            return f"{f'{lead}·' if lead != 1 else ''}10{str(k).translate(_RAISED)}"
        if tick == 0:
            return "0"
        if not 1e-4 <= abs(tick) < 1e6:
            return number(tick, 2)
        return f"{tick:.10g}".replace("-", "−")


def _round_steps(low: float, high: float, most: int) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten, at most `most`."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(s * power for s in (1, 2, 5, 10, 20) if (high - low) / (s * power) <= most)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Return powers of ten, at most eight; over less than two of them 1, 2, 5."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if math.log10(high / low) < 2 else (1,)
    every = math.ceil((last - first) / 8)
    ticks = [s * 10.0**k for k in range(first, last + 1, every) for s in steps]
    return [t for t in ticks if low <= t <= high]


def _grid(across: Axis, up: Axis, height: int) -> str:
    lines = []
    for tick, y in zip(up.ticks, up.at(np.array(up.ticks)), strict=True):
        lines.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
        lines.append(f'<text class="end" x="{_LEFT - 6}" y="{y + 4:.1f}">{up.words(tick)}</text>')
    for tick, x in zip(across.ticks, across.at(np.array(across.ticks)), strict=True):
        lines.append(f'<path class="grid" d="M{x:.1f} {_TOP}V{height - _BOTTOM}"/>')
        words = across.words(tick)
        lines.append(f'<text class="middle" x="{x:.1f}" y="{height - _BOTTOM + 14}">{words}</text>')
    return "".join(lines)


def _path(across: Axis, up: Axis, x: Floats, values: Floats) -> str:
    """Return a curve, interrupted where values are missing."""
    k = shown_samples([values], _POINTS)
    px, v = across.at(x[k]), values[k]
    with np.errstate(invalid="ignore"):
        there = np.isfinite(v) & ((v > 0) if up.log else True)
    py = up.at(np.where(there, v, up.low))
    words, pen = [], False
    for i in range(len(k)):
        if there[i]:
            words.append(f"{'L' if pen else 'M'}{px[i]:.1f} {py[i]:.1f}")
        pen = bool(there[i])
    return "".join(words)


def _band(across: Axis, up: Axis, x: Floats, lower: Floats, upper: Floats) -> str:
    """Return the area between two curves."""
    k = shown_samples([upper, lower], _POINTS)
    k = k[np.isfinite(lower[k]) & np.isfinite(upper[k])]
    there = [
        f"{px:.1f} {py:.1f}"
        for order, values in ((k, upper), (k[::-1], lower))
        for px, py in zip(across.at(x[order]), up.at(values[order]), strict=True)
    ]
    return f'<path class="band" d="M{"L".join(there)}Z"/>' if there else ""


def _mark(across: Axis, height: int, mark: Mapping[str, Any]) -> str:
    x = float(across.at(np.array([float(mark["x"])]))[0])
    side, shift = ("begin", 5) if x < _WIDTH / 2 else ("end", -5)
    return (
        f'<path class="marked" d="M{x:.1f} {_TOP}V{height - _BOTTOM}"/>'
        f'<text class="{side}" x="{x + shift:.1f}" y="{_TOP + 12}">{escape(mark["label"])}</text>'
    )


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array(values, dtype=float)  # None becomes nan
