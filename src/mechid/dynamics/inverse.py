"""Inverse dynamics: from a motion to the forces that it takes, and to the reactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from mechid.dynamics.columns import Column
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.hysteresis import is_path, remembered
from mechid.dynamics.load_friction import load_friction
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.reactions import JointReactions, joint_reactions
from mechid.dynamics.reference_point import (
    joint_reactions_reference,
    observation_matrix_reference,
)
from mechid.dynamics.reference_point.eliminate import Method
from mechid.dynamics.regressor import observation_blocks
from mechid.dynamics.timed_loads import timed_loads
from mechid.dynamics.wrench import sensed_forces
from mechid.errors import MechidError
from mechid.kinematics.motion import Motion, checked_motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import force_unit
from mechid.shown import Plotted, Tabular, span

Formulation: TypeAlias = Literal["tree", "reference-point"]
FORMULATIONS: tuple[Formulation, ...] = ("tree", "reference-point")
ELIMINATIONS: tuple[Method, ...] = get_args(Method)

_BLOCK = 2048  # samples of W in memory at a time


@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamics(Plotted, Tabular):
    """Forces that a motion takes.

    Attributes
    ----------
    motion : Motion
    tau : array (N, n_i)
        Forces on the independent coordinates (N or N m), in the order of the model.
    phi : array (p,)
        The parameters they were computed with.
    columns : tuple of Column
        Names and units of the parameters.
    reactions : JointReactions or None
        If asked for.
    """

    motion: Motion
    tau: Floats
    phi: Floats
    columns: tuple[Column, ...]
    reactions: JointReactions | None = None

    @property
    def sensed(self) -> dict[str, Floats]:
        """What sensors in free and spherical joints measure; see `sensed_forces`."""
        return sensed_forces(self.motion.model.mechanism, self.motion.y, self.tau)

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        mechanism = self.motion.model.mechanism
        return {
            "mechanism": mechanism.name,
            "samples": len(self.tau),
            **{
                c.force: span(self.tau[:, i], force_unit(c))
                for i, c in enumerate(mechanism.coordinates)
            },
            "parameters": len(self.phi),
            "reactions": self.reactions and self.reactions.joints,
        }


def inverse_dynamics(
    motion: Motion,
    phi: Floats | None = None,
    *,
    reactions: bool = False,
    formulation: Formulation = "tree",
    elimination: Method | None = None,
    watch: Callable[[int], None] | None = None,
) -> InverseDynamics:
    """Return the generalised forces of a solved motion, τ = W φ + known.

    Where friction depends on the load, its direction is that of the forces for `phi`.

    Parameters
    ----------
    motion : Motion
    phi : array (p,), optional
        Parameters in the order of the columns of W; default: CAD values.
    reactions : bool
        Also the forces and moments in every joint.
    formulation : "tree" or "reference-point"
        The fast one, or the second one, which solves the kinematics again and takes some
        hundredths of a second per sample.
    elimination : "partition", "svd", "qr" or "gauss", optional
        How the second formulation eliminates constraint forces: coordinate partitioning (its
        default), singular values, QR or Gauss-Jordan elimination.
    watch : callable (samples), optional
        Called from time to time with the samples whose reactions are done, for progress.

    Raises
    ------
    ModelError
        If a parameter has no value.
    MechidError
        If there is no such formulation or elimination.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> model = mechid.load("pendulum@point-mass-like")  # 1.2 kg, 0.5 m below the pivot
    >>> found = mechid.inverse_dynamics(mechid.solve_motion(model, [[0.3]]), reactions=True)
    >>> np.allclose(abs(found.tau), 1.2 * 9.81 * 0.5 * np.sin(0.3))  # N m
    True
    >>> np.allclose(found.reactions.force, [0, 0, 1.2 * 9.81])  # N, ground axes
    True
    """
    motion = checked_motion(motion)
    _check(formulation, elimination)
    model = dynamic_model(motion.model.mechanism)
    values = parameter_values(model, phi)
    second = formulation == "reference-point"
    rubbing = load_friction(motion.model.mechanism)
    # Behind the gears is a mechanism without their friction.
    behind = motion if rubbing is None else replace(motion, model=rubbing.model.kinematics)
    loads = _second(behind, values, elimination) if second else _fast(behind, values)
    tau = loads if rubbing is None else loads * rubbing.factors(motion.yd, loads)
    found = None
    if reactions:
        found = _reactions(
            joint_reactions_reference if second else joint_reactions, behind, values, loads, watch
        )
    return InverseDynamics(motion, tau, values, model.columns, found)


def _fast(motion: Motion, phi: Floats) -> Floats:
    tau = np.zeros(motion.y.shape)
    for part, seen in observation_blocks(motion, _BLOCK):
        tau[part] = seen.W @ phi + seen.known
    return tau


def _second(motion: Motion, phi: Floats, elimination: Method | None) -> Floats:
    mechanism, timed = motion.model.mechanism, timed_loads(motion.model.mechanism)
    chosen = elimination or ELIMINATIONS[0]
    if timed is None:
        seen = observation_matrix_reference(mechanism, motion, chosen)
        return np.asarray(seen.W @ phi + seen.known)
    seen = observation_matrix_reference(timed.model.mechanism, motion, chosen)
    W, known = timed.folded(seen.W, seen.known, motion.time)
    return np.asarray(W @ phi + known)


def _reactions(
    find: Callable[..., JointReactions],
    motion: Motion,
    phi: Floats,
    tau: Floats,
    watch: Callable[[int], None] | None,
) -> JointReactions:
    """Return the reactions; they are linear in the coefficients, so forces that vary add up."""
    mechanism, model, values = motion.model.mechanism, None, phi
    places, sizes = np.zeros(0, dtype=int), np.zeros((len(motion.y), 0))
    past = remembered(mechanism) if is_path(motion) else None
    if past is not None:
        h, _ = past.along(past.path(motion))
        model, values = past.model, past.parameters(phi)
        places, sizes = past.forces, -past.sizes(phi) * h
        mechanism = model.mechanism
    timed = timed_loads(mechanism)
    if timed is not None:
        model, values = timed.model, timed.parameters(values)
        places = np.concatenate([timed.others[places], timed.places])
        sizes = np.hstack([sizes, timed.at(motion.time)])
    if model is None:
        return find(motion, phi, tau, watch)
    moved = replace(motion, model=model.kinematics)
    without = find(moved, values, tau, watch)
    names = ("force", "moment", "multipliers")
    total = {name: getattr(without, name).copy() for name in names}
    for place, size in zip(places, sizes.T, strict=True):
        values[place] = 1.0
        unit = find(moved, values, tau, watch)
        for name, values_of in total.items():
            change = getattr(unit, name) - getattr(without, name)
            values_of += size.reshape(-1, *[1] * (change.ndim - 1)) * change
        values[place] = 0.0
    return replace(without, **total)


def _check(formulation: str, elimination: str | None) -> None:
    if formulation not in FORMULATIONS:
        raise MechidError(
            f"unknown formulation '{formulation}'",
            remedy=f"choose one of {', '.join(FORMULATIONS)}",
        )
    if elimination is None:
        return
    if elimination not in ELIMINATIONS:
        raise MechidError(
            f"unknown elimination '{elimination}'",
            remedy=f"choose one of {', '.join(ELIMINATIONS)}",
        )
    if formulation != "reference-point":
        raise MechidError(
            f"formulation {formulation} has no elimination to choose",
            remedy="choose formulation reference-point too",
        )
