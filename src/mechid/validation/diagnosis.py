"""What is wrong with measured forces and with the model, in words, each with its figure.

Errors that explain everything else come first: channels that are exchanged, reversed or in another
unit. Where there is one, nothing else is looked for, since its size would be meaningless. The
others are what the posterior of the estimator `auto` finds, and what single samples show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechid.estimation.estimate import Estimate, Finding
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.sensed import late_regression, late_values
from mechid.signals.record import PreparedMeasurement
from mechid.validation.diagnosis_channels import exchanged_or_reversed, other_units, unexplained
from mechid.validation.diagnosis_motion import little_motion, near_standstill
from mechid.validation.diagnosis_record import CAD, SETTLED, Diagnosis
from mechid.validation.diagnosis_samples import clipped, hum, outliers, quantised

# What a finding of each family is called.
_KINDS = {
    "offsets": "offset",
    "gains": "gain",
    "drifts": "drift",
    "delays": "delay",
    "friction": "friction",
    "places": "place",
    "coefficients": "coefficient",
    "elasticity": "elasticity",
}


def gross_mistakes(
    regression: Regression,
    prior: Prior | None,
    source: str = CAD,
    lacking: Floats | None = None,
) -> tuple[Diagnosis, ...]:
    """Return forces in another unit, exchanged or reversed.

    Parameters
    ----------
    regression : Regression
    prior : Prior, optional
        CAD values, if they are known.
    source : str
        What the prior is called in sentences.
    lacking : array (N, n_d, k), optional
        Forces that nearly every machine has, and the model may lack.
    """
    return other_units(regression, prior, source, lacking) or exchanged_or_reversed(
        regression, prior, source, lacking
    )


def diagnose(
    regression: Regression,
    estimate: Estimate,
    motions: Sequence[PreparedMeasurement],
    *,
    added: Sequence[Finding] = (),
    speeds: Floats | None = None,
    coordinates: Sequence[tuple[str, str]] = (),
) -> tuple[Diagnosis, ...]:
    """Say what is wrong with the forces of an identification, and with its model.

    Parameters
    ----------
    regression : Regression
        Of the identification, with the parameters of the estimate at least.
    estimate : Estimate
    motions : sequence of PreparedMeasurement
        Logs of the identification, in their order.
    added : sequence of Finding
        What was written into the model.
    speeds : array (N, n_d), optional
        Of the coordinate of each force at the samples of the regression, m/s or rad/s.
    coordinates : sequence of (str, str)
        Names and units of the independent coordinates, as the columns of a motion.
    """
    delay = None if estimate.errors is None else estimate.errors.delay
    r = late_regression(regression.select(estimate.parameters), delay)
    expected = r.W @ estimate.values + r.known
    fitted = r.tau - expected
    if odd := unexplained(r, fitted):
        return odd
    # Samples that the estimator left out, as clipped ones.
    e = np.where(r.valid & np.isnan(estimate.residuals), fitted, estimate.residuals)
    forces = np.where(r.valid, r.tau - e, np.nan)
    return (
        *clipped(motions, r, expected),
        *quantised(motions, r, e),
        *of_findings(estimate.found, added),
        *outliers(motions, r, e, robust=estimate.tails is not None),
        *hum(motions, r, e, forces),
        *(() if speeds is None else near_standstill(r, e, late_values(r, speeds, delay))),
        *little_motion(estimate, motions, coordinates),
    )


def of_findings(found: Sequence[Finding], added: Sequence[Finding] = ()) -> Iterator[Diagnosis]:
    """Yield what is more likely there than not; values and model contain it, but for what no model
    can have."""
    names = {f.name for f in added}
    for f in (*added, *(f for f in found if f.name not in names)):
        if not f.likely:
            continue
        inside = f.name in names or f.owner != "machine"
        where = "the model has it now" if f.owner == "machine" else "values contain it"
        yield Diagnosis(
            _KINDS[f.family],
            f.channel,
            f.values[0] if len(f.values) == 1 else float(np.linalg.norm(f.values)),
            f.unit,
            f.probability,
            f.words,
            f"{SETTLED}: {where}; to avoid it, {f.remedy}" if inside else f.remedy,
        )
