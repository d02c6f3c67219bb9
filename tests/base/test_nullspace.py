"""Transfers are null vectors of the observation matrix, whatever the frames."""

from __future__ import annotations

import numpy as np
import pytest
from flint import ctx

from mechid.base.experiment import Experiment, random_states
from mechid.base.nullspace import NullSpace, null_space
from mechid.dynamics.regressor import observation_matrix
from mechid.modelfile import load

from ..contract.changes import reframed
from .cases import EVERY, null_of, stacked


def check_null(null: NullSpace, W: np.ndarray) -> None:
    bound = np.abs(W) @ np.abs(null.matrix)
    assert np.all(np.abs(W @ null.matrix) <= 1e-11 * (bound + np.max(bound)))


@pytest.mark.parametrize("spec", EVERY)
def test_transfers_change_no_force(spec: str) -> None:
    check_null(null_of(spec), stacked(spec))


def test_directions_that_no_joint_names() -> None:
    """A piston turns about the pin of its cylinder, along none of its own axes or joints."""
    mechanism = reframed(load("three_rps"), np.random.default_rng(4), 0.3).mechanism
    W = observation_matrix(random_states(mechanism, Experiment(), 12)).W
    check_null(null_space(mechanism), W.reshape(-1, W.shape[-1]))


def test_precision_of_the_caller_does_not_matter() -> None:
    for precision in (53, 200):
        with ctx.workprec(precision):
            assert null_space(load("planar_3rrr")).rank == null_of("planar_3rrr").rank


def test_geared_rotors_do_not_hide_the_axis_they_drive() -> None:
    """A rotor behind a gear of 156 counts 24 000 fold, yet Izz of its link has an effect."""
    null = null_of("puma560")
    rows = [null.names.index(n) for n in null.without_effect]
    W = stacked("puma560")
    assert np.all(np.abs(W[:, rows]) <= 1e-9 * np.max(np.abs(W)))
