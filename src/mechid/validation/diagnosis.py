"""What is wrong with measured forces and with the model, in words, each with its figure.

Errors that explain everything else come first: channels that are exchanged, reversed or in another
unit. Where there is one, smaller errors are not looked for, since their size would be meaningless;
nor where a force looks like noise, whatever the model may lack.
Then clipped, quantised and single wrong samples, and errors that are linear in a factor: the one
that explains most is taken into the model before the next is sought, so that one cause has one
finding. Delays that were estimated are part of the problem from the start: they are linear only
while they are much shorter than what the forces do. Where friction without them leaves less, they
are named as what it was taken for. `diagnosis_*.py` hold the tests; each states
where its threshold comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from mechid.estimation.estimate import Estimate
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.estimation.sensed import late_regression, late_values
from mechid.signals.record import PreparedMeasurement
from mechid.validation.added_columns import fitted_problem, stacked_columns, with_column
from mechid.validation.crossvalidate import force_rms
from mechid.validation.diagnosis_channels import exchanged_or_reversed, other_units, unexplained
from mechid.validation.diagnosis_linear import (
    Candidate,
    LinearFindings,
    imitated_delays,
    linear_findings,
    mostly_friction,
)
from mechid.validation.diagnosis_motion import little_motion, near_standstill
from mechid.validation.diagnosis_record import CAD, Diagnosis
from mechid.validation.diagnosis_samples import clipped, hum, outliers, quantised

# Measured values that suffice for errors that are linear in a factor: of longer logs every nth
# sample is taken there, since all candidates need as much memory as W.
_ROWS = 50_000
# Residuals below this fraction of a force are rounding of data without noise.
_EXACT = 1e-6
# What looks like friction unless it was estimated: a delay moves reversals, a hum may come at each.
_LIKE_FRICTION = ("delay", "hum")
# What looks like elasticity: both repeat with the motion.
_LIKE_ELASTICITY = ("quantised", "hum")
# Friction explains more than a delay does if it leaves less than this part of the squares.
_BETTER = 0.9


class Findings(NamedTuple):
    """What was found, forces (N, n_d) of the friction and of the rotors that the model lacks, joint
    by joint, and of k drives that give way, (N, n_d, k).

    None of friction where a hum was found that explains the forces as well, or a delay that was not
    estimated. Forces like those of elasticity are there also where they are not named, because a
    hum or steps of the forces look alike.
    """

    found: tuple[Diagnosis, ...]
    friction: Mapping[str, Floats] = MappingProxyType({})
    rotors: Mapping[str, Floats] = MappingProxyType({})
    elasticity: Floats | None = None


def diagnose(
    regression: Regression,
    estimate: Estimate,
    motions: Sequence[PreparedMeasurement],
    *,
    prior: Prior | None = None,
    speeds: Floats | None = None,
    lacking: Sequence[Candidate] = (),
    coordinates: Sequence[tuple[str, str]] = (),
    source: str = CAD,
) -> Findings:
    """Say what is wrong with the forces of an identification, and with its model.

    Parameters
    ----------
    regression : Regression
        Of the identification, with the parameters of the estimate at least.
    estimate : Estimate
    motions : sequence of PreparedMeasurement
        Logs of the identification, in their order.
    prior : Prior, optional
        CAD values, if they are known.
    speeds : array (N, n_d), optional
        Of the coordinate of each force at the samples of the regression, m/s or rad/s.
    lacking : sequence of Candidate
        What the model does not have: shapes of friction, rotors, and elasticity of drives.
    coordinates : sequence of (str, str)
        Names and units of the independent coordinates, as the columns of a motion.
    source : str
        What the prior is called in sentences.
    """
    delay = None if estimate.errors is None else estimate.errors.delay
    r = late_regression(regression.select(estimate.parameters), delay)
    fitted = r.tau - r.known - r.W @ estimate.values
    usual = stacked_columns([c.column for c in lacking if c.usual], r.tau.shape)
    gross = other_units(r, prior, source, usual) or exchanged_or_reversed(r, prior, source, usual)
    if gross:
        return Findings(gross)
    # Forces without noise were not used. The model may lack the cause, as of what is not explained:
    # most of the force of a wrist is friction.
    known = np.isfinite(estimate.noise)
    alive = [
        bool(np.ptp(x[ok])) if ok.any() else False for x, ok in zip(r.tau.T, r.valid.T, strict=True)
    ]
    strange = {d.channel for d in unexplained(r, fitted)}
    strange |= {name for name, k, ok in zip(r.channels, known, alive, strict=True) if ok and not k}
    r = replace(r, valid=r.valid & (known | np.isin(r.channels, list(strange))))
    size = force_rms(r.tau, r.valid)
    floor = np.where(size > 0, _EXACT * size, 1.0)
    noise = np.where(known, np.maximum(np.nan_to_num(estimate.noise), floor), size + floor)
    scale = 1.0 if estimate.agreement is None else max(1.0, estimate.agreement.scale)
    nth = max(1, r.tau.size // _ROWS)
    thin = slice(None, None, nth)

    def linear(r: Regression, lacking: Sequence[Candidate], estimate: Estimate) -> LinearFindings:
        few = [replace(c, column=c.column[thin]) for c in lacking]
        problem = fitted_problem(r.part(thin), noise, prior, scale=scale)
        return linear_findings(problem, estimate, motions[0], few, source)

    imitated = False
    late = [replace(c, column=late_values(r, c.column, delay)) for c in lacking]
    found, rest, factors = linear(r, late, estimate)
    if lacking and estimate.errors is not None and np.any(delay):
        # What the model lacks of friction looks like a delay, and delays are estimated by default.
        on_time = replace(estimate, errors=replace(estimate.errors, delay=None, sigma_delay=None))
        valid = replace(regression.select(estimate.parameters), valid=r.valid)
        other, less, others = linear(valid, lacking, on_time)
        kinds = {d.kind for d in other}
        # Forces that are late beside that friction are late.
        instead = "friction" in kinds and "delay" not in kinds
        imitated = instead and less.squares < _BETTER * rest.squares
        if imitated:
            found, rest = (*imitated_delays(estimate, motions[0]), *other), less
            factors = others
    e = rest.residuals() if nth == 1 else estimate.residuals
    left_out = r.valid & np.isnan(e)  # by the estimator: clipped samples
    if left_out.any():
        e = np.where(left_out, fitted, e)
    left = rest.regression, rest.residuals()
    if still := [d.channel for d in unexplained(*left) if d.channel in strange]:
        # Friction of a joint in several shapes, each of which is hidden by the others.
        rest = with_column(rest, usual[thin])
        noisy = unexplained(rest.regression, rest.residuals())
        if odd := tuple(d for d in noisy if d.channel in still):
            return Findings(odd)
        rubbing = [replace(c, column=c.column[thin]) for c in lacking if c.usual]
        found = (*found, *mostly_friction(*left, still, rubbing))
    forces = np.where(r.valid, r.tau - e, np.nan)
    whole = (
        *clipped(motions, r, r.W @ estimate.values + r.known),
        *quantised(motions, r, e),
        *found,
        *outliers(motions, r, e, robust=estimate.tails is not None),
        *hum(motions, r, e, forces),
        *(() if speeds is None else near_standstill(r, e, late_values(r, speeds, delay))),
        *little_motion(estimate, motions, coordinates),
    )
    if any(d.kind in _LIKE_ELASTICITY for d in whole):
        whole = tuple(d for d in whole if d.kind != "elasticity")
    elastic = [
        factor * c.parts
        for c, factor in zip(lacking, factors.tolist(), strict=True)
        if factor and c.parts is not None
    ]
    like = not imitated and any(d.kind in _LIKE_FRICTION and not d.settled for d in whole)
    return Findings(
        whole,
        {} if like else _of_joints("friction", lacking, factors),
        _of_joints("rotor", lacking, factors),
        np.concatenate(elastic, axis=-1) if elastic else None,
    )


def _of_joints(kind: str, candidates: Sequence[Candidate], factors: Floats) -> dict[str, Floats]:
    """Return the forces of all that was taken of a kind, joint by joint."""
    found: dict[str, Floats] = {}
    for c, factor in zip(candidates, factors.tolist(), strict=True):
        if factor and c.kind == kind:
            found[c.channel] = found.get(c.channel, 0.0) + factor * c.column
    return found
