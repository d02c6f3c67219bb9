"""Linear problems of a study: base sets, true and CAD values, and observation matrices, kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mechid.base.baseset import BaseSet
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import Observation, observation_matrix
from mechid.errors import MechidError
from mechid.estimation.perturb import perturbed
from mechid.estimation.regression import Floats, Ints, Regression
from mechid.mechanism.records import IndependentCoordinate, Mechanism
from mechid.studies.experiments.shared import columns, mechanism, words_key
from mechid.studies.given_motions import GivenMotion, for_base, solved
from mechid.tables.forces import force_unit


@dataclass(frozen=True, eq=False)
class Columns:
    """Parameters of a linear problem, made of all parameters φ of a mechanism.

    Attributes
    ----------
    names : tuple of str
        The b parameters, called like those that head them.
    places : array (b,)
        Their columns in the whole observation matrix.
    matrix : array (b, p)
        Values are `matrix` φ.
    base : BaseSet or None
        None for all parameters, and for a list of dependent parameters that is not a base set: its
        parameters are taken as they are, since nothing regroups them.
    """

    names: tuple[str, ...]
    places: Ints
    matrix: Floats
    base: BaseSet | None


@lru_cache(maxsize=16)
def columns_of(model: str, base: str) -> Columns:
    """Return the parameters of a base set; an empty name: all parameters.

    Raises
    ------
    MechidError
        If there is no such set.
    """
    names = tuple(c.name for c in dynamic_model(mechanism(model)).columns)
    if not base:
        return _plain(names, names)
    try:
        found = columns(model, base).base
    except MechidError:
        if base not in {s.name for s in mechanism(model).base_sets}:
            raise
        return _plain(names, columns(model, base, listed=True).names)
    return Columns(found.base, found.places, found.matrix, found)


def _plain(names: tuple[str, ...], kept: tuple[str, ...]) -> Columns:
    at = {name: i for i, name in enumerate(names)}
    places = np.array([at[n] for n in kept], dtype=np.int64)
    return Columns(kept, places, np.eye(len(names))[places], None)


@lru_cache(maxsize=64)
def cad_of(truth: str, error: float, seed: int) -> Mechanism:
    """Return a mechanism with CAD values that are wrong by a relative error."""
    true = mechanism(truth)
    return perturbed(true, error, np.random.default_rng([seed, 1])) if error else true


@lru_cache(maxsize=64)
def cad_values(truth: str, error: float, seed: int) -> Floats:
    """Return the parameters of `cad_of`, (p,)."""
    return parameter_values(dynamic_model(cad_of(truth, error, seed)))


def observed(
    model: str, motion: GivenMotion, *, gravity: bool, base: str, rate: float, seconds: float
) -> tuple[Observation, Floats]:
    """Return the observation matrix of a motion (see `solved`), and its times (N,)."""
    return _observed(model, words_key(for_base(motion, base)), gravity, rate, seconds)


@lru_cache(maxsize=16)
def _observed(
    model: str, motion: str, gravity: bool, rate: float, seconds: float
) -> tuple[Observation, Floats]:
    given = json.loads(motion)
    found = solved(model, given, gravity=gravity, base="", rate=rate, seconds=seconds)
    time = np.arange(len(found.y)) / rate if found.time is None else found.time
    return observation_matrix(found), time


def problem(
    coordinates: Sequence[IndependentCoordinate],
    seen: Observation,
    time: Floats,
    columns: Columns,
    tau: Floats,
) -> Regression:
    """Return the linear problem of some parameters; τ (N, n_i) are measured forces."""
    return Regression(
        np.ascontiguousarray(seen.W[..., columns.places]),
        tau,
        seen.known,
        time,
        columns.names,
        tuple(c.force for c in coordinates),
        tuple(force_unit(c) for c in coordinates),
        np.ones(tau.shape, dtype=bool),
    )
