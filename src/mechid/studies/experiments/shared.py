"""What cells share, kept from call to call in the process: models, base sets, motions, W."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.errors import DataError
from mechid.estimation.regression import Floats, Regression
from mechid.excitation.optimise import Watch
from mechid.excitation.trajectory import Trajectory, of_mechanism, sample
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.signals.record import PreparedMeasurement
from mechid.tables.motion import MotionTable
from mechid.tasks.excite import excite
from mechid.tasks.inputs import mechanism_of, trajectory_of
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import chosen_base
from mechid.textfile.words import hint

_KEPT = 48  # of each kind
watching: ContextVar[Watch | None] = ContextVar("watching", default=None)  # designs of motions


@lru_cache(_KEPT)
def mechanism(spec: str) -> Mechanism:
    """Return a model."""
    return mechanism_of(spec)


@lru_cache(_KEPT)
def true_values(spec: str) -> Floats:
    """Return the values of all parameters of a model, (p,)."""
    return parameter_values(dynamic_model(mechanism(spec)))


@dataclass(frozen=True, eq=False)
class Columns:
    """Parameters that are estimated.

    Attributes
    ----------
    names : tuple of str
        That head them.
    matrix : array (b, p)
        B of φ_base = B φ; a selection where a set is taken as listed.
    base : BaseSet
        The base set, or any of the model where a set is taken as listed.
    """

    names: tuple[str, ...]
    matrix: Floats
    base: BaseSet


@lru_cache(_KEPT)
def columns(spec: str, base: str, listed: bool = False) -> Columns:
    """Return the base set of a model; or what a named set of its file leaves, not regrouped."""
    model = mechanism(spec)
    if not listed:
        found = chosen_base(model, IdentifyOptions(base=base))
        return Columns(found.base, found.matrix, found)
    known = {s.name: s.dependent for s in model.base_sets}
    if base not in known:
        raise DataError(f"{spec} has no base set {base}", remedy=hint(base, list(known)))
    names = [column.name for column in dynamic_model(model).columns]
    any_base = chosen_base(model, IdentifyOptions(base="last"))
    gone = {*known[base], *any_base.without_effect}
    left = [n for n in names if n not in gone]
    matrix = np.eye(len(names))[[names.index(n) for n in left]]
    return Columns(tuple(left), matrix, any_base)


def words_key(words: Mapping[str, Any]) -> str:
    """Return a mapping as text, the same for the same content."""
    return json.dumps(words, sort_keys=True)


@lru_cache(_KEPT)
def designed(spec: str, words: str) -> Trajectory:
    """Return a motion: a file ({"file": …}), or what `excite` designs with some options."""
    given = json.loads(words)
    if "file" in given:
        return of_mechanism(trajectory_of(given["file"]), mechanism(spec))
    made = excite(mechanism(spec), watch=watching.get(), **given)
    return of_mechanism(made.trajectory, mechanism(spec))


@dataclass(frozen=True)
class Sampling:
    """A motion that is sampled: options of `excite` as text, rate (Hz), and duration (s)."""

    spec: str
    words: str
    rate: float
    seconds: float | None = None
    periods: float | None = None


@lru_cache(_KEPT)
def sampled(by: Sampling) -> MotionTable:
    """Return the samples of a motion, without its end."""
    trajectory = designed(by.spec, by.words)
    seconds = by.seconds if by.seconds is not None else (by.periods or 1.0) * trajectory.duration
    n = round(by.rate * seconds)
    if n < 2:
        raise DataError(f"{seconds:g} s at {by.rate:g} Hz are fewer than two samples")
    s = sample(trajectory, times=np.arange(n) / by.rate)
    return MotionTable(s.time, s.y, s.yd, s.ydd)


@lru_cache(_KEPT)
def observed(by: Sampling) -> Regression:
    """Return W of all parameters along a motion, with forces of zero."""
    model, table = mechanism(by.spec), sampled(by)
    forces = tuple(c.force for c in model.coordinates)
    zero = np.zeros((len(table.time), len(forces)))
    motion = PreparedMeasurement(
        name="study",
        time=table.time,
        y=table.y,
        yd=table.yd,
        ydd=table.ydd,
        forces=forces,
        tau=zero,
    )
    return regression_of(dynamic_model(model), motion)


def of_forces(regression: Regression, names: Sequence[str]) -> Regression:
    """Return the problem with some of the forces, in the order of the problem; all without names.

    Raises
    ------
    DataError
        For a force that is not there.
    """
    if not names:
        return regression
    r = regression
    if strange := [n for n in names if n not in r.channels]:
        raise DataError(f"there is no force {strange[0]}", remedy=hint(strange[0], r.channels))
    return r.of_channels([j for j, n in enumerate(r.channels) if n in names])
