"""Friction that the model lacks: shapes to look for, and what it does to the parameters.

Friction that turns over a distance after a reversal differs from Coulomb's only there: hardly
anything of it is left in the residuals, parameters of friction and inertias of drives take up the
rest, and no part of the motion is without it. So what the diagnosis finds of it goes into the
standard deviations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from mechid.estimation.doubtful_forces import DoubtfulForces
from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats, Regression
from mechid.mechanism.records import JointCoordinate, Mechanism
from mechid.signals.filters import Decimation
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.friction_shapes import (
    SHAPES,
    FrictionShape,
    friction_shapes,
    friction_terms,
    shape_columns,
)
from mechid.tasks.load_shapes import drives, rubbed
from mechid.tasks.regress import measured_rows
from mechid.validation.diagnosis_linear import Candidate
from mechid.validation.friction_columns import load_column

ADD = "try --friction auto, which adds what predicts held-out blocks better"
ADD_ROTOR = "try --friction auto, which adds rotors, too, if held-out blocks are predicted better"
# Friction that grows with the load, where it cannot be added.
_NO_JOINT = (
    "--friction auto can add it to coordinates of joints that turn or slide, and to no other"
)
_GIVEN = "correct its coefficient in the model, or leave it out there and try --friction auto"


def own_speeds(mechanism: Mechanism, motion: PreparedMeasurement) -> Floats:
    """Return the speed of the coordinate of each force, (N, n_d), as the parallel filter leaves
    it."""
    yd = motion.yd[:, measured_rows(mechanism, motion.forces)]
    return _filtered(motion, yd)


def doubtful_rotors(rotors: Mapping[str, Floats]) -> DoubtfulForces | None:
    """Return the forces of rotors that the model lacks, of each joint (N, n_d), likewise."""
    if not rotors:
        return None
    words = f"what rotor inertia of {', '.join(rotors)} that the model lacks does to the parameters"
    return DoubtfulForces(np.stack(list(rotors.values()), axis=-1), words)


def doubtful_friction(friction: Mapping[str, Floats]) -> DoubtfulForces | None:
    """Return friction that the model lacks as forces that parameters have adapted to.

    Parameters
    ----------
    friction : mapping joint → (N, n_d)
        Its forces, as the diagnosis found them.
    """
    if not friction:
        return None
    words = f"what friction of {', '.join(friction)} that the model lacks does to the parameters"
    return DoubtfulForces(np.stack(list(friction.values()), axis=-1), words)


def friction_words(
    mechanism: Mechanism, parameters: Sequence[str], joints: Collection[str], *, contained: bool
) -> tuple[str, ...]:
    """Return a warning about parameters of friction that take up friction of another kind.

    Parameters
    ----------
    mechanism : Mechanism
    parameters : sequence of str
        Those that were estimated.
    joints : collection of str
        With friction that the model lacks, as the diagnosis names them.
    contained : bool
        Whether standard deviations contain it.
    """
    names = []
    for c in mechanism.coordinates:
        if isinstance(c, JointCoordinate) and {c.name, c.joint} & {*joints}:
            terms = friction_terms(mechanism, (c.joint, c.index))
            names += [term.name for term in terms if term.name in parameters]
    if not names:
        return ()
    so_far = "contain as far as it was found" if contained else "do not contain"
    return (
        f"friction of {', '.join(joints)} is not what the model says (see the diagnosis): "
        f"{', '.join(names)} take up what they can of it, which their standard deviations {so_far}",
    )


def friction_candidates(
    estimate: Estimate,
    mechanism: Mechanism,
    regression: Regression,
    logs: Sequence[PreparedMeasurement],
) -> list[Candidate]:
    """Return shapes of friction that the model does not have, as forces at all samples."""
    return [*_friction(mechanism, logs), *_loads(estimate, mechanism, regression, logs)]


def _friction(mechanism: Mechanism, logs: Sequence[PreparedMeasurement]) -> list[Candidate]:
    shapes = friction_shapes(mechanism, logs, narrow=False)
    if not shapes:
        return []
    columns = shape_columns(mechanism, logs, shapes)
    # A force that differs with the direction cannot be told from an offset.
    return [
        _candidate(mechanism, shape, columns[..., k])
        for k, shape in enumerate(shapes)
        if shape.shape != "asymmetric"
    ]


def _candidate(mechanism: Mechanism, shape: FrictionShape, column: Floats) -> Candidate:
    if shape.shape == "rotor":
        unit = _inertia(mechanism, shape)
        return Candidate("rotor", shape.joint, column, unit, "", ADD_ROTOR)
    fixed, usual = shape.fixed is not None, shape.shape in ("coulomb", "viscous")
    return Candidate(
        "friction", shape.joint, column, "", shape.words, ADD, fixed=fixed, usual=usual
    )


def _inertia(mechanism: Mechanism, rotor: FrictionShape) -> str:
    """Return the unit of the inertia of a rotor, as seen from its joint."""
    ((joint, index),) = rotor.element.coordinates
    return "kg m²" if mechanism.joint(joint).kind.units[index] == "rad" else "kg"


def _loads(
    estimate: Estimate,
    mechanism: Mechanism,
    regression: Regression,
    logs: Sequence[PreparedMeasurement],
) -> Iterator[Candidate]:
    """Yield friction of actuated coordinates that grows with the load."""
    speeds = np.concatenate([own_speeds(mechanism, motion) for motion in logs])
    r = regression.select(estimate.parameters)
    forces = r.W @ estimate.values + r.known
    addable, given = drives(mechanism, r.channels).values(), rubbed(mechanism)
    for j, i in enumerate(measured_rows(mechanism, r.channels)):
        column = np.zeros_like(forces)
        column[:, j] = load_column(forces[:, j], speeds[:, j])
        c = mechanism.coordinates[i]
        remedy = ADD if c.force in addable else _NO_JOINT
        if isinstance(c, JointCoordinate) and (c.joint, c.index) in given:
            remedy = _GIVEN
        yield Candidate("friction", c.name, column, "", SHAPES["load"], remedy)


def _filtered(motion: PreparedMeasurement, values: Floats) -> Floats:
    """Return values (N, …) at the samples of the regression."""
    return values if motion.decimation == 1 else Decimation(motion.decimation).apply(values)
