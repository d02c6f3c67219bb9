"""Friction that remembers where a motion turned: Dahl's law along paths.

A state alone does not tell the force, so the kernels know a law of states only (`element_laws`).
Along a path, each such term is a plain force on its coordinate in another model, that of
`Remembered`, times h, which this module computes from the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.kernels.jit import kept_models
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats, Ints
from mechid.mechanism.element_kinds import Term
from mechid.mechanism.element_laws import HYSTERESIS
from mechid.mechanism.element_terms import terms_of
from mechid.mechanism.records import Coefficient, ForceElement, Mechanism, Part


def dahl(path: Floats, width: float, start: float = 0.0) -> Floats:
    """Return h (N,) along a path of one coordinate: dh/ds = (1 - h sign ṡ) / width.

    After a way x in one direction, h is ±1 less what is left of the beginning, times exp(-x/width).

    Parameters
    ----------
    path : array (N,)
        Coordinate over time, m or rad; it does not turn between samples.
    width : float
        m or rad.
    start : float
        h of the first sample.
    """
    # Between two reversals the path is monotone: one step for each such stretch, not each sample.
    steps = np.diff(path)
    moving = np.flatnonzero(steps)
    sides = np.sign(steps[moving])
    turns = moving[1:][sides[1:] != sides[:-1]]
    found = np.full(len(path), float(start))
    first = moving[:1].tolist()
    for a, b in pairwise([*first, *turns.tolist(), len(steps)]):
        side = np.sign(steps[a])
        left = np.exp(-np.abs(path[a + 1 : b + 1] - path[a]) / width)
        found[a + 1 : b + 1] = side + (found[a] - side) * left
    return found


def dahl_gradient(path: Floats, width: float, h: Floats, by_h: Floats) -> Floats:
    """Return the gradient by the path, (N,), of a function whose gradient by h is given.

    Parameters
    ----------
    path, width
        As for `dahl`.
    h : array (N,)
        Its result.
    by_h : array (N,)
    """
    steps = np.diff(path)
    kept = np.exp(-np.abs(steps) / width)
    # What h gains by a step in units of h per m or rad; the way back through all later samples.
    gain = (1.0 - np.sign(steps) * h[:-1]) * kept / width
    out = np.zeros(len(path))
    total = 0.0
    for k in range(len(steps) - 1, -1, -1):
        total += by_h[k + 1]
        out[k + 1] += total * gain[k]
        out[k] -= total * gain[k]
        total *= kept[k]
    return out


@dataclass(frozen=True, eq=False)
class Memory:
    """Where a path has been: coordinates (k,) of its last sample, and h (k,) there."""

    path: Floats
    h: Floats


@dataclass(frozen=True)
class Turning:
    """One term of hysteresis: its coordinate, its width, its column in W or the value it has."""

    joint: str
    index: int
    width: float
    column: int | None
    value: float


@dataclass(frozen=True, eq=False)
class Remembered:
    """The terms of hysteresis of a mechanism.

    Attributes
    ----------
    model : DynamicModel
        Of the same mechanism, with a plain force in place of each of the k terms.
    terms : tuple of Turning
    columns : array of int (p,)
        The column of `model` that stands for each of the p columns of the mechanism: of a term, its
        force.
    forces : array of int (k,)
        The column of `model` of each term. It is -∂s/∂y.
    """

    model: DynamicModel
    terms: tuple[Turning, ...]
    columns: Ints
    forces: Ints

    def path(self, motion: Motion) -> Floats:
        """Return the coordinates (N, k) of the terms along a motion."""
        found = [_along(motion, term) for term in self.terms]
        return np.stack(found, axis=1)

    def along(self, path: Floats, before: Memory | None = None) -> tuple[Floats, Memory]:
        """Return h (N, k) along a path (N, k), from zero on or after another path; its end."""
        start = np.zeros(len(self.terms)) if before is None else before.h
        if before is not None:
            path = np.vstack([before.path, path + self._whole_turns(before.path, path)])
        parts = [
            dahl(s, term.width, float(x))
            for s, term, x in zip(path.T, self.terms, start, strict=True)
        ]
        h = np.stack(parts, axis=1)
        end = Memory(path[-1], h[-1])
        return h[0 if before is None else 1 :], end

    def _whole_turns(self, last: Floats, path: Floats) -> Floats:
        """Return what joins the angles of joints that are not in the tree, (k,)."""
        mechanism = self.model.mechanism
        angles = [mechanism.joint(t.joint).kind.units[t.index] == "rad" for t in self.terms]
        turns = np.rint((last - path[0]) / (2 * np.pi))
        return np.where(angles, 2 * np.pi * turns, 0.0)

    def folded(self, W: Any, known: Any, h: Floats) -> tuple[Any, Any]:
        """Return W (N, n_i, p) and known (N, n_i) of the mechanism from those of `model`."""
        out = np.ascontiguousarray(W[:, :, self.columns])
        for i, term in enumerate(self.terms):
            if term.column is None:
                known = known - term.value * h[:, i, None] * W[:, :, self.forces[i]]
            else:
                out[:, :, term.column] *= -h[:, i, None]
        return out, known

    def parameters(self, phi: Floats) -> Floats:
        """Return the parameters of `model`, those of the forces zero."""
        out = np.zeros(len(self.model.columns))
        out[self.columns] = phi
        out[self.forces] = 0.0
        return out

    def sizes(self, phi: Floats) -> Floats:
        """Return the coefficients (k,) of the terms: those of φ (p,), or the values they have."""
        return np.array([t.value if t.column is None else phi[t.column] for t in self.terms])

    def weights(self, G: Floats, known: Floats) -> Floats:
        """Return the derivatives by h times ∂s/∂y, (N, n_i, k), of those by W and by known."""
        parts = [t.value * known if t.column is None else G[:, :, t.column] for t in self.terms]
        return np.stack(parts, axis=-1)


def is_path(motion: Motion) -> bool:
    """Return whether the samples of a motion are a path in time, not states each for itself."""
    return motion.ordered and motion.time is not None and len(motion.y) > 1


def remembered(mechanism: Mechanism) -> Remembered | None:
    """Return the terms of hysteresis of a mechanism, if it has any."""
    if not any(True for e in mechanism.elements for _ in _turning(e)):
        return None
    return _remembered(mechanism)


def _turning(element: ForceElement) -> Iterator[tuple[Part, Term]]:
    return ((part, term) for part, term in terms_of(element) if term.law == HYSTERESIS)


@kept_models
def _remembered(mechanism: Mechanism) -> Remembered:
    own = dynamic_model(mechanism)
    unknown = _unknown_columns(own)
    elements, forces = [], []
    terms: list[Turning] = []
    for element in mechanism.elements:
        found = list(_turning(element))
        elements.append(_without(element, [term for _, term in found]))
        for part, term in found:
            _, joint, index = term.measure
            value = float(term.coefficient.value or 0.0)
            terms.append(Turning(joint, index, term.shape[0], unknown[len(terms)], value))
            force = Part(f"hysteresis of {part.name}", (("force", Coefficient(1.0, True)),))
            forces.append(
                ForceElement(force.name, "joint_force", (force,), coordinates=((joint, index),))
            )
    model = dynamic_model(replace(mechanism, elements=(*elements, *forces)))
    # The forces come last; what was there before keeps its order.
    places = len(model.columns) - len(terms) + np.arange(len(terms))
    columns = np.zeros(len(own.columns), dtype=int)
    of_term = {column: k for k, column in enumerate(unknown) if column is not None}
    plain = [i for i in range(len(columns)) if i not in of_term]
    columns[plain] = np.arange(len(plain))
    for column, k in of_term.items():
        columns[column] = places[k]
    return Remembered(model, tuple(terms), columns, places)


def _unknown_columns(model: DynamicModel) -> list[int | None]:
    """Return the column of each term of hysteresis, None of one that is known."""
    found: list[int | None] = []
    column = 10 * len(model.mechanism.bodies)
    for term in model.terms:
        if term.law == HYSTERESIS:
            found.append(None if term.known else column)
        column += not term.known
    return found


def _without(element: ForceElement, terms: list[Term]) -> ForceElement:
    """Return an element without some of its terms, which are called after their keys."""
    names = {term.name for term in terms}

    def kept(part: Part) -> Part:
        values = (
            (k, Coefficient(0.0) if f"{k}_{part.name}" in names else v) for k, v in part.values
        )
        return replace(part, values=tuple(values))

    return replace(element, parts=tuple(map(kept, element.parts))) if terms else element


def _along(motion: Motion, term: Turning) -> Floats:
    """Return a joint coordinate along a motion, (N,)."""
    place = motion.model.compiled.coordinate.get((term.joint, term.index))
    if place is not None and not place.ball:
        return np.asarray(motion.q[:, place.q])
    return np.asarray(joint_motion(motion, term.joint).coordinates[:, term.index])
