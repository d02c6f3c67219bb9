"""Errors that are linear in a factor: offset, drift, delay, gain, shapes of friction, rotors.

Each candidate is a column of forces per unit of its factor. The one that explains most of the
residuals is taken into the model, then the next is sought, until none is significant. All of them
together are given an error probability of 1 % (Bonferroni), and what changes a channel's sum of
squares by less than 2 % is left out: it would not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from scipy.interpolate import CubicSpline

from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats, Regression
from mechid.signals.record import PreparedMeasurement
from mechid.validation.added_columns import (
    FittedProblem,
    in_blocks,
    stacked_columns,
    try_columns,
    with_column,
    without_forces,
)
from mechid.validation.crossvalidate import force_rms
from mechid.validation.diagnosis_record import CAD, SETTLED, Diagnosis

_LEVEL = 0.01
_MATTERS = 0.02
# Errors of the model look like delay or gain of a single channel: these must explain more.
_SINGLE = 0.3
# Degrees of slow functions of time: more would follow the motion itself.
_DRIFTS = (1, 2, 3)
# A gain below is within the calibration of a usual sensor, a delay (samples) below within its
# jitter; a gain above is no error of calibration.
_LEAST = {"gain": 0.01, "delay": 0.1}
_WILD = 0.5
_POSITIVE = ("rotor", "elasticity")
# Findings at most, in all and for each force, and candidates that are tried for one.
_MOST, _EACH, _TRIED = 12, 3, 8
_SURE = 4.0  # standard deviations of a gain or delay that the estimator found
_BESIDES = f"{SETTLED}: it is estimated besides"
_POSITIONS = "the positions"


@dataclass(frozen=True, eq=False)
class Candidate:
    """An error with an unknown factor.

    Attributes
    ----------
    kind, channel : str
        As in `Diagnosis`.
    column : array (N, n_d)
        Forces per unit of the factor, N or N m.
    unit : str
        Of the factor.
    words : str
        What it is.
    remedy : str
        What to do about it, if that is not the same for all of its kind.
    parts : array (N, n_d, k), optional
        Forces of single causes that are alike, whose sum is the column.
    fixed : bool
        Whether the model has it with a given factor, which may be wrong.
    usual : bool
        Whether nearly every machine has it, so that a model without it explains little.
    """

    kind: str
    channel: str
    column: Floats
    unit: str
    words: str = ""
    remedy: str = ""
    parts: Floats | None = None
    fixed: bool = False
    usual: bool = False


class LinearFindings(NamedTuple):
    """Errors that were found, the problem with all of them fitted, and the factors of what the
    model lacks, in the order that was given, 0 for those that were not taken."""

    found: tuple[Diagnosis, ...]
    problem: FittedProblem
    factors: Floats


def linear_findings(
    problem: FittedProblem,
    estimate: Estimate,
    motion: PreparedMeasurement,
    lacking: Sequence[Candidate] = (),
    source: str = CAD,
) -> LinearFindings:
    """Return errors that are linear in a factor, and the problem with all of them fitted.

    Parameters
    ----------
    problem : FittedProblem
        Without gains and offsets, whether they were estimated or not, but with the delays that
        were.
    estimate : Estimate
    motion : PreparedMeasurement
        A log, for its rate.
    lacking : sequence of Candidate
        What the model may lack: shapes of friction, rotors, elasticity.
    source : str
        What the prior is called in sentences.
    """
    r = problem.regression
    forces = r.W @ estimate.values + r.known
    # Where CAD values or other channels do not determine a gain, the parameters imitate it.
    channels = _candidates(r, forces)
    candidates = [*channels, *lacking]
    factors = np.zeros(len(candidates))
    columns = stacked_columns([c.column for c in candidates], r.tau.shape)
    step = _step(motion)
    taken: list[tuple[Candidate, float, float]] = []
    for _ in range(max(_MOST, _EACH * len(r.channels))):
        best = _best(problem, candidates, columns, step)
        if best is None:
            break
        k, factor, significance = best
        factors[k] += factor
        taken.append((candidates[k], factor, significance))
        problem = with_column(problem, columns[..., k : k + 1])
        if candidates[k].kind == "delay":
            problem = without_forces(problem, _beyond(candidates[k], factor, r, forces))
    size = dict(zip(r.channels, force_rms(r.tau, r.valid), strict=True))
    found = _merged(taken, r, size, estimate, step, source)
    found = (
        *_estimated_delays(estimate, step),
        *found,
        *_estimated_gains(estimate, {d.channel for d in found if d.kind == "gain"}, source),
    )
    return LinearFindings(found, problem, factors[len(channels) :])


def _candidates(r: Regression, forces: Floats) -> list[Candidate]:
    rates = np.zeros_like(forces)
    slow = np.zeros((len(r.time), len(_DRIFTS)))
    logs = np.unique(r.logs)
    for log in logs:
        at = np.flatnonzero(r.logs == log)
        if len(at) < 3:
            continue
        rates[at] = np.gradient(forces[at], r.time[at], axis=0)
        span = 2 * (r.time[at] - r.time[at][0]) / (r.time[at][-1] - r.time[at][0]) - 1
        slow[at] = legendre.legvander(span, max(_DRIFTS))[:, list(_DRIFTS)]
    found = [Candidate("delay", "", -rates, "s")]
    for j, (name, unit) in enumerate(zip(r.channels, r.units, strict=True)):

        def only(values: Floats, j: int = j) -> Floats:
            column = np.zeros_like(forces)
            column[:, j] = values
            return column

        found.append(Candidate("offset", name, only(np.ones(len(r.time))), unit))
        if len(logs) > 1:
            found += [
                Candidate("offset", name, only(r.logs == log), unit, f" in log {log + 1}")
                for log in logs
            ]
        found += [Candidate("drift", name, only(s), unit) for s in slow.T]
        if len(r.channels) > 1:
            found.append(Candidate("delay", name, only(-rates[:, j]), "s"))
            found.append(Candidate("gain", name, only(forces[:, j]), ""))
    return found


def _best(
    problem: FittedProblem, candidates: Sequence[Candidate], columns: Floats, step: float
) -> tuple[int, float, float] | None:
    """Return the significant candidate that explains most, its factor and that in deviations."""
    added = try_columns(problem, columns)
    m, r = len(problem.block), problem.regression
    channel, n_d = r.stacked()[2], len(r.channels)
    squares = np.bincount(channel, problem.e[:m] ** 2, minlength=n_d)
    forces = np.sum(np.square(r.tau / problem.noise), axis=0, where=r.valid)
    order = []
    for k in np.argsort(-added.gain).tolist():
        c = candidates[k]
        here = np.any(c.column != 0, axis=0)
        size = abs(added.factor[k]) / (step if c.kind == "delay" else 1.0)
        if (
            added.gain[k] > _least_share(c) * squares[here].sum()
            and size >= _LEAST.get(c.kind, 0.0)
            and not (c.kind == "gain" and size > _WILD)
            and not (c.kind in _POSITIVE and added.factor[k] < 0)
            # More friction than force: a column that parameters imitate but for inaccuracies. What
            # the model states may be that wrong.
            and (c.kind != "friction" or c.fixed or added.whole[k] <= forces[here].sum())
        ):
            order.append(k)
    # Elasticity takes a part of what other errors explain: only what they leave is its own, and its
    # one candidate makes none of theirs less significant.
    last = [k for k in order if candidates[k].kind == "elasticity"]
    # Nor do rotors, which count for themselves.
    kinds = [c.kind for c in candidates]
    several = sum(kind not in _POSITIVE for kind in kinds)
    for k in [*[k for k in order if k not in last][:_TRIED], *last]:
        # What is left without it remembers it; blocks must be as long as the memory of the rest.
        column = columns[..., k : k + 1]
        alone = try_columns(in_blocks(problem, with_column(problem, column)), column)
        if alone.p[0] * (several + kinds.count("rotor") * (kinds[k] == "rotor")) < _LEVEL:
            factor = float(alone.factor[0])
            return k, factor, factor / float(alone.sigma[0])
    return None


def _beyond(c: Candidate, delay: float, r: Regression, forces: Floats) -> Floats:
    """Return what a delay does to forces (N, n_d) beyond its column: f(t - δ) - f(t) + δ f'.

    f'' looks like -⟨f'²⟩/⟨f²⟩ f, and would be taken for a gain.
    """
    here = np.any(c.column != 0, axis=0)
    found = np.zeros_like(forces)
    for log in np.unique(r.logs):
        at = np.flatnonzero(r.logs == log)
        if len(at) > 3:
            late = CubicSpline(r.time[at], forces[at])(r.time[at] - delay)
            found[at] = late - forces[at] - delay * c.column[at]
    return np.where(here, found, 0.0)


def _least_share(c: Candidate) -> float:
    """Return which part of the sum of squares of its channels a candidate must explain.

    Inertias of drives take up most of what their elasticity does: little is left.
    """
    if c.kind == "elasticity":
        return 0.0
    return _SINGLE if c.kind in _LEAST and c.channel else _MATTERS


def _merged(
    taken: Sequence[tuple[Candidate, float, float]],
    r: Regression,
    size: dict[str, float],
    estimate: Estimate,
    step: float,
    source: str,
) -> tuple[Diagnosis, ...]:
    """Return one finding per kind and channel, in the order in which they were found."""
    groups: dict[tuple[str, str, str], list[tuple[Candidate, float, float]]] = {}
    for one in taken:
        log = one[0].words if one[0].kind == "offset" else ""
        groups.setdefault((one[0].kind, one[0].channel, log), []).append(one)
    found = []
    for (kind, name, _), parts in groups.items():
        history = np.sum([c.column * x for c, x, _ in parts], axis=0)
        significance = max(abs(t) for _, _, t in parts)
        value, unit = parts[0][1], parts[0][0].unit
        match kind:
            case "offset":
                text = (
                    f"force {name} has a constant offset of {value:.3g} {unit}{parts[0][0].words} "
                    f"({_share(abs(value), size[name])} of its rms, {significance:.0f} standard "
                    "deviations)"
                )
                remedy = "estimate offsets (--offsets), or correct the zero of the sensor"
            case "drift":
                value = float(np.ptp(history[:, r.channels.index(name)]))
                text = (
                    f"force {name} drifts by {value:.3g} {unit} during the log "
                    f"({_share(value, size[name])} of its rms, {significance:.0f} standard "
                    "deviations)"
                )
                remedy = "let the sensor warm up, or identify from shorter parts, with offsets"
            case "delay":
                against = (
                    "what is estimated of it" if _estimated(kind, name, estimate) else _POSITIONS
                )
                text = _late(name, value, step, significance, against)
                remedy = "record all channels with one clock, or shift the forces in the log back"
            case "gain":
                text, remedy = _gain(name, value, significance, source)
            case "elasticity":
                text = (
                    f"drives give way by about {100 * value:.2g} % of their motion under their "
                    f"usual force ({significance:.0f} standard deviations)"
                )
                remedy = parts[0][0].remedy
            case "rotor":
                text = (
                    f"the drive of {name} has inertia that the model lacks, as of a rotor: "
                    f"{value:.3g} {unit} seen from the joint ({significance:.0f} standard "
                    "deviations)"
                )
                remedy = parts[0][0].remedy
            case _:
                words = " and ".join(dict.fromkeys(c.words for c, _, _ in parts))
                value = float(np.sqrt(np.mean(np.sum(np.square(history), axis=1))))
                unit = r.units[int(np.argmax(np.abs(history).sum(axis=0)))]
                text = (
                    f"friction of {name} is not what the model says: {words} explains "
                    f"{value:.3g} {unit} (rms, {significance:.0f} standard deviations)"
                )
                remedy = parts[0][0].remedy
        if kind != "delay" and _estimated(kind, name, estimate):
            remedy = _BESIDES
        found.append(Diagnosis(kind, name, value, unit, significance, text, remedy))
    return tuple(found)


def mostly_friction(
    r: Regression, residuals: Floats, forces: Sequence[str], friction: Sequence[Candidate]
) -> Iterator[Diagnosis]:
    """Yield the joints whose friction explains residuals (N, n_d) of forces that nothing else does.

    All shapes of `friction` together do; that of the joint which acts most on a force is named.
    """
    size = force_rms(r.tau, r.valid)
    for name in forces:
        j = r.channels.index(name)
        valid = r.valid[:, j] & np.isfinite(residuals[:, j])
        most = max(friction, key=lambda c: float(np.sum(c.column[valid, j] ** 2)))
        own = [c for c in friction if c.channel == most.channel]
        left = float(np.sqrt(np.mean(residuals[valid, j] ** 2)))
        words = " and ".join(dict.fromkeys(c.words for c in own))
        text = (
            f"friction of {most.channel} is not what the model says: {words} explain force {name}, "
            f"of which {_share(left, float(size[j]))} are left without"
        )
        times = left / float(size[j])
        yield Diagnosis("friction", most.channel, left, r.units[j], times, text, most.remedy)


def imitated_delays(estimate: Estimate, motion: PreparedMeasurement) -> Iterator[Diagnosis]:
    """Yield delays that the estimator found where friction explains the forces better."""
    for d in _estimated_delays(estimate, _step(motion)):
        what = f"force {d.channel}" if d.channel else "all forces"
        side = "late" if d.size > 0 else "early"
        yield replace(
            d,
            text=f"friction that the model lacks was taken for {what} {1e3 * abs(d.size):.3g} ms "
            f"{side}",
            remedy="see the friction",
        )


def _step(motion: PreparedMeasurement) -> float:
    return float(np.median(np.diff(motion.time)))


def _estimated_delays(estimate: Estimate, step: float) -> Iterator[Diagnosis]:
    """Yield delays that the estimator found; it gives one to all forces, or to each its own."""
    errors = estimate.errors
    if errors is None or errors.delay is None or errors.sigma_delay is None:
        return
    delay, sigma = errors.delay, errors.sigma_delay
    shared = len(delay) > 1 and bool(np.all(delay == delay[0]))
    names = ("",) if shared else estimate.channels
    for name, value, deviation in zip(names, delay.tolist(), sigma.tolist(), strict=False):
        if deviation > 0 and abs(value) >= max(_LEAST["delay"] * step, _SURE * deviation):
            significance = abs(value) / deviation
            text = _late(name, value, step, significance, _POSITIONS)
            yield Diagnosis("delay", name, value, "s", significance, text, _BESIDES)


def _late(name: str, value: float, step: float, significance: float, against: str) -> str:
    what = f"force {name} is" if name else "all forces are"
    return (
        f"{what} {1e3 * abs(value):.3g} ms ({abs(value) / step:.2g} samples) "
        f"{'late' if value > 0 else 'early'} against {against} "
        f"({significance:.0f} standard deviations)"
    )


def _estimated_gains(estimate: Estimate, known: set[str], source: str) -> Iterator[Diagnosis]:
    """Yield gains that the estimator found."""
    if estimate.errors is None:
        return
    rows = zip(estimate.channels, estimate.errors.gain, estimate.errors.sigma_gain, strict=True)
    for name, gain, sigma in rows:
        if name in known or not sigma > 0 or abs(gain) < max(_LEAST["gain"], _SURE * sigma):
            continue
        text, remedy = _gain(name, float(gain), float(abs(gain) / sigma), source)
        yield Diagnosis("gain", name, float(gain), "", float(abs(gain) / sigma), text, remedy)


def _gain(name: str, value: float, significance: float, source: str) -> tuple[str, str]:
    text = (
        f"force {name} is {100 * abs(value):.3g} % too {'large' if value > 0 else 'small'} for the "
        f"other forces and {source} ({significance:.0f} standard deviations)"
    )
    return text, f"check scale and calibration of {name}, and the geometry of the model"


def _estimated(kind: str, name: str, estimate: Estimate) -> bool:
    """Return whether the estimator has taken an error of a channel, or of all, into account."""
    errors = estimate.errors
    if errors is None:
        return False
    sizes = {"offset": errors.sigma_offset, "drift": errors.drift, "delay": errors.delay}
    found = sizes.get(kind)
    if found is None:
        return False
    return bool(np.any(found if not name else found[estimate.channels.index(name)]))


def _share(value: float, whole: float) -> str:
    return f"{100 * value / whole:.3g} %" if whole > 0 else "all"
