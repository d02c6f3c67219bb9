"""What the motion does not show, what friction does near standstill, and whom to believe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats, Regression
from mechid.signals.record import PreparedMeasurement
from mechid.validation.diagnosis_record import Diagnosis

# Speeds that count as slow, relative to the usual top speed; samples needed to say something.
_SLOW = (0.01, 0.02, 0.05)
_SAMPLES = 20
# Mean squares of residuals near standstill, in units of those elsewhere. Of 20 normal samples they
# exceed 3 in one of 10⁵ cases; 4 is twice the size.
LARGER = 4.0
# A coordinate that moves less than this part of what others of its unit do.
_STILL = 0.05
_TINY = float(np.finfo(float).tiny)
# Disagreement of CAD values and data beyond chance, and the size that matters.
_DOUBT, _WIDER = 1e-6, 2.0
# An unseen motion decides for the data if the model has less than half of the error there.
_HALF = 0.5


def near_standstill(r: Regression, e: Floats, speeds: Floats) -> tuple[Diagnosis, ...]:
    """Name forces whose residuals are much larger where their coordinate hardly moves.

    Parameters
    ----------
    r : Regression
    e : array (N, n_d)
        Residuals, NaN where nothing valid was measured.
    speeds : array (N, n_d)
        Of the coordinate of each force.
    """
    found = []
    for j, name in enumerate(r.channels):
        speed, ratio = slow_samples(e[:, j], speeds[:, j])
        if ratio > LARGER:
            per = "rad/s" if r.units[j] == "N m" else "m/s"
            found.append(
                Diagnosis(
                    "standstill",
                    name,
                    speed,
                    per,
                    ratio / LARGER,
                    f"residuals of force {name} are {np.sqrt(ratio):.2g} times as large where its "
                    f"coordinate is slower than {speed:.3g} {per}: dry friction is no step there",
                    "leave these samples out: --standstill auto, or ignore_below in the mapping "
                    "file",
                )
            )
    return tuple(found)


def slow_samples(e: Floats, speed: Floats) -> tuple[float, float]:
    """Return the speed below which residuals e (N,) are largest, and their squares there.

    The squares are in units of those of all faster samples, as means or medians, whichever is
    less; 0 if there are too few samples.
    """
    here = np.isfinite(e)
    x, v = e[here] ** 2, np.abs(speed[here])
    if len(x) < 4 * _SAMPLES:
        return 0.0, 0.0
    top = float(np.quantile(v, 0.95))
    best = (0.0, 0.0)
    for part in _SLOW:
        slow = v < part * top
        n = np.count_nonzero(slow)
        if n < _SAMPLES or len(x) - n < _SAMPLES:
            continue
        # Of means and of medians, so that it is not a few samples that make it.
        ratio = min(float(f(x[slow]) / max(f(x[~slow]), _TINY)) for f in (np.mean, np.median))
        if ratio > best[1]:
            best = part * top, ratio
    return best


def little_motion(
    estimate: Estimate,
    motions: Sequence[PreparedMeasurement],
    coordinates: Sequence[tuple[str, str]],
) -> tuple[Diagnosis, ...]:
    """Name coordinates that hardly move, where parameters are determined mainly by the prior."""
    if not estimate.resting:
        return ()
    found = []
    spans = np.max([np.ptp(m.y, axis=0) for m in motions], axis=0)
    shown = ", ".join(estimate.resting[:3]) + (", …" if len(estimate.resting) > 3 else "")
    for k, (name, unit) in enumerate(coordinates):
        most = max(spans[i] for i, (_, u) in enumerate(coordinates) if u == unit)
        if spans[k] >= _STILL * most:
            continue
        found.append(
            Diagnosis(
                "motion",
                name,
                float(spans[k]),
                unit,
                float(_STILL * most / max(spans[k], 1e-12)),
                f"coordinate {name} moves by {spans[k]:.3g} {unit} only, others by up to "
                f"{most:.3g} {unit}; {len(estimate.resting)} of {len(estimate.parameters)} "
                f"parameters are determined mainly by the prior ({shown})",
                f"measure a motion that moves {name}, as mechid excite designs it",
            )
        )
    return tuple(found)


def believed(
    estimate: Estimate, unseen: Sequence[tuple[str, float, float]]
) -> tuple[Diagnosis, ...]:
    """Say whether CAD values or data should be believed where they disagree.

    Parameters
    ----------
    estimate : Estimate
    unseen : sequence of (motion, error of the CAD values, error of the estimate)
    """
    found = []
    for motion, cad, own in unseen:
        if cad < own:
            found.append(
                Diagnosis(
                    "cad",
                    "",
                    own / cad,
                    "",
                    own / cad,
                    f"on {motion} the CAD values predict better (error {100 * cad:.3g} %) than the "
                    f"identified model ({100 * own:.3g} %)",
                    "believe the CAD values for such motions, and look for what is wrong in data "
                    "or model",
                )
            )
    agreement = estimate.agreement
    better = [one for one in unseen if one[2] < _HALF * one[1]]
    if agreement is None or found or not better:
        return tuple(found)
    if agreement.p >= _DOUBT or agreement.scale <= _WIDER:
        return ()
    motion, cad, own = better[0]
    return (
        Diagnosis(
            "cad",
            "",
            agreement.scale,
            "",
            agreement.scale / _WIDER,
            f"data and CAD values disagree: χ² = {agreement.chi2:.3g} with {agreement.dof:.3g} "
            f"degrees of freedom, as if the CAD values had {agreement.scale:.2g} times their "
            f"declared errors; on {motion} the identified model predicts better "
            f"({100 * own:.3g} % against {100 * cad:.3g} %)",
            "believe the data, and check the CAD values",
        ),
    )
