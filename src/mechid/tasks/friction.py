"""Friction as real joints have it: shapes that are linear in their coefficients, tried and chosen.

So is the inertia of rotors, which robot files hardly ever have. Every shape is a force element of
the model, so that a model with the chosen ones can be written, simulated and used for prediction
like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from mechid.errors import DataError
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.posterior.fit import LIKELY
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.runs.record import FrictionChoice
from mechid.runs.truth import Truth
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.choose_friction import choose_shapes, fit_noise, offset_columns
from mechid.tasks.estimators import estimator_of
from mechid.tasks.friction_shapes import (
    SHAPES,
    FrictionShape,
    friction_shapes,
    loaded_shapes,
    shape_columns,
    with_shapes,
)
from mechid.tasks.load_shapes import (
    LARGEST,
    LoadSlopes,
    fitted,
    load_sizes,
    load_slopes,
    loaded,
)
from mechid.tasks.stages import chosen_base, problem_of

KEEP, AUTO = "keep", "auto"


def richer_friction(
    mechanism: Mechanism,
    truth: Truth | None,
    motions: Sequence[PreparedMeasurement],
    options: IdentifyOptions,
    n_logs: int = 1,
) -> tuple[Mechanism, Truth | None, FrictionChoice | None]:
    """Return a mechanism with the friction that options ask for, its truth, and the choice.

    Parameters
    ----------
    mechanism : Mechanism
    truth : Truth, optional
        Of synthetic data; terms that it does not have are zero, or as the model has them fixed.
    motions : sequence of PreparedMeasurement
        The logs of the identification first.
    options : IdentifyOptions
        Its `friction`: "keep", "auto", or names of `SHAPES` that all joints get.
    n_logs : int
        How many of the motions are logs of the identification.

    Raises
    ------
    DataError
        For a shape that does not exist.
    """
    asked = options.friction
    if strange := [name for name in asked if name not in (AUTO, KEEP, *SHAPES)]:
        raise DataError(
            f"there is no shape of friction {strange[0]}",
            remedy=f"choose one of: {AUTO}, {KEEP}, {', '.join(SHAPES)}",
        )
    if len(asked) > 1 and {AUTO, KEEP} & set(asked):
        raise DataError(
            f"friction {', '.join(asked)} makes no sense",
            remedy=f"give {AUTO}, {KEEP}, or names of shapes",
        )
    if asked == (KEEP,) or not asked:
        return mechanism, truth, None
    logs = motions[:n_logs]
    shapes = (*friction_shapes(mechanism, logs), *loaded_shapes(mechanism, logs[0].forces))
    if AUTO in asked:
        shapes = tuple(s for s in shapes if not (s.actuated and s.shape == "asymmetric"))
    else:
        shapes = tuple(s for s in shapes if s.shape in asked)
    if not shapes:
        return mechanism, truth, FrictionChoice()
    problem = problem_of(mechanism, chosen_base(mechanism, options), logs, options, n_logs)
    regression, prior = problem.regression, problem.prior
    estimator = estimator_of(options.estimator, options.settings)
    if AUTO in asked and isinstance(estimator, JointPosterior) and prior is not None:
        own = tuple(s for s in shapes if s.parameter)
        taken = _likely(estimator, regression, prior, own, shape_columns(mechanism, logs, own))
        choice = FrictionChoice(tuple(f"{s.words} of {s.joint}" for s in taken))
        return with_shapes(mechanism, taken), _with_truth(truth, taken), choice
    linear, loads = (tuple(s for s in shapes if bool(s.parameter) == x) for x in (True, False))
    noise = fit_noise(regression, prior)
    slopes = load_slopes(mechanism, logs, [s.element for s in loads], regression)
    beta, _ = fitted(regression, noise, prior, offset_columns(regression))
    parts = (shape_columns(mechanism, logs, linear), slopes.columns(beta))
    shapes, columns = (*linear, *loads), np.concatenate(parts, axis=-1)
    while True:
        chosen, choice = choose_shapes(regression, prior, shapes, columns, AUTO in asked)
        at = [shapes.index(s) for s in chosen if s.parameter]
        others = np.concatenate([offset_columns(regression), columns[..., at]], axis=-1)
        taken, choice = _sized(chosen, choice, loads, slopes, (regression, noise, prior, others))
        lost = _loaded(chosen) - _loaded(taken)
        if AUTO not in asked or not lost:
            break
        # What looks like a load that no gear has is something else, which may be among the shapes.
        kept = [k for k, s in enumerate(shapes) if s.parameter or s.joint not in lost]
        shapes, columns = tuple(shapes[k] for k in kept), columns[..., kept]
    return with_shapes(mechanism, taken), _with_truth(truth, taken), choice


def _with_truth(truth: Truth | None, taken: Sequence[FrictionShape]) -> Truth | None:
    """Return the truth of a mechanism with further shapes: they are not there."""
    if truth is None:
        return None
    more = {s.parameter: s.fixed or 0.0 for s in taken if s.parameter}
    values = np.append(truth.values, list(more.values()))
    return replace(truth, parameters=(*truth.parameters, *more), values=values)


def _likely(
    estimator: JointPosterior,
    regression: Regression,
    prior: Prior,
    shapes: Sequence[FrictionShape],
    columns: Floats,
) -> tuple[FrictionShape, ...]:
    """Return the shapes that are more likely there than not, among everything else."""
    names = tuple(s.parameter for s in shapes)
    k = len(names)
    wider = replace(
        regression,
        W=np.concatenate([regression.W, columns], axis=2),
        parameters=(*regression.parameters, *names),
        instruments=None,
        between=None,
    )
    known = replace(
        prior,
        parameters=(*prior.parameters, *names),
        base=(*prior.base, *names),
        matrix=block_diag(prior.matrix, np.eye(k)),
        values=np.append(prior.values, np.zeros(k)),
        covariance=block_diag(prior.covariance, np.zeros((k, k))),
        possible=names,
    )
    present = estimator.present(wider, known)
    return tuple(s for s in shapes if present.get(s.parameter, 0.0) >= LIKELY)


def _loaded(shapes: Sequence[FrictionShape]) -> set[str]:
    """Return the joints with friction that grows with the load."""
    return {s.joint for s in shapes if not s.parameter}


def _sized(
    taken: Sequence[FrictionShape],
    choice: FrictionChoice,
    loads: Sequence[FrictionShape],
    slopes: LoadSlopes,
    fit: tuple[Regression, Floats, Prior | None, Floats],
) -> tuple[tuple[FrictionShape, ...], FrictionChoice]:
    """Return what was taken, friction that grows with the load as large as it was found."""
    wanted = [k for k, s in enumerate(loads) if s in taken]
    regression, noise, prior, others = fit
    own = slopes.of(wanted)
    sizes = load_sizes(regression, own, noise, prior, others)
    # Noise was what the model without it left: beside the prior, data counted too little.
    noise = fit_noise(own.at(regression, sizes), prior)
    sizes = load_sizes(regression, own, noise, prior, others)
    size = {loads[k].joint: float(f"{x:.4g}") for k, x in zip(wanted, sizes, strict=True)}
    found, words = [], []
    for shape, text in zip(taken, choice.shapes, strict=True):
        if shape.parameter:
            found.append(shape)
            words.append(text)
        elif 0 < size[shape.joint] < LARGEST:
            found.append(replace(shape, element=loaded(shape.element, size[shape.joint])))
            words.append(f"{text}, {size[shape.joint]:.3g} of the force")
    return tuple(found), replace(choice, shapes=tuple(words))
