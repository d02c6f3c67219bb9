"""Observation matrices of a small linkage: whole, in blocks, as a stream, with a past."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import (
    ALONE,
    NO_PAST,
    Observation,
    _beginning,
    _fault,
    _refuse_overflow,
    cad_parameters,
    observation_blocks,
    observation_matrix,
    observe_path,
    observe_path_blocks,
    observe_stream,
)
from mechid.errors import MechidError
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Coefficient
from mechid.modelfile import loads

from ..elements import element
from .rich import RICH, engine_of

Array = np.ndarray


@cache
def path(past: bool) -> tuple[DynamicModel, tuple[Array, Array, Array, Array], Motion]:
    """A path of the rich linkage, with hysteresis in two joints if there is a past."""
    mechanism = loads(RICH)
    if past:
        turning = [
            element(f"turn_{name}", "friction", (), ((name, 0),), hysteresis=size,
                    hysteresis_width=0.05)
            for name, size in (("A", Coefficient(2.0, True)), ("B", Coefficient(0.5)))
        ]  # fmt: skip
        mechanism = replace(mechanism, elements=(*mechanism.elements, *turning))
    model = dynamic_model(mechanism)
    t = np.linspace(0, 1.5, 23)
    y, yd, ydd = (x[:, None] for x in (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)))
    given = (t, 0.2 * y, 0.2 * yd, 0.2 * ydd)
    return model, given, solve_motion(mechanism, *given[1:], time=t)


def test_forces_are_those_of_the_equations_of_motion() -> None:
    model, (_, y, yd, ydd), motion = path(False)
    seen = observation_matrix(motion)
    assert seen.W.shape == (23, 1, len(model.columns))
    tau = seen.W @ cad_parameters(model) + seen.known
    engine = engine_of("rich")
    for k in (0, 7, 22):
        e = engine.reduced(y[k], yd[k])
        assert tau[k, 0] == pytest.approx(float((e.M @ ydd[k] + e.h)[0]), rel=1e-8)


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("size", [1, 5, 22, 23, 24])
def test_blocks_are_parts_of_the_whole(past: bool, size: int) -> None:
    model, (t, y, yd, ydd), motion = path(past)
    whole = observation_matrix(motion)
    blocks = [slice(k, min(k + size, 23)) for k in range(0, 23, size)]
    ways = {
        "motion": list(observation_blocks(motion, size)),
        "path": list(observe_path_blocks(model, y, yd, ydd, time=t, size=size)),
    }
    for found in ways.values():
        assert [part for part, _ in found] == blocks
        np.testing.assert_allclose(np.concatenate([x.W for _, x in found]), whole.W, atol=1e-9)
        known = np.concatenate([x.known for _, x in found])
        np.testing.assert_allclose(known, whole.known, atol=1e-9)
    # Memory that is used again, and a path that comes in parts.
    parts = [(t[p], y[p], yd[p], ydd[p]) for p in blocks]
    reused = observe_path_blocks(model, y, yd, ydd, time=t, size=size, reuse=True)
    for (part, a), b in zip(reused, observe_stream(model, parts, 23), strict=True):
        for x in (a, b):
            np.testing.assert_allclose(x.W, whole.W[part], atol=1e-9)
            np.testing.assert_allclose(x.known, whole.known[part], atol=1e-9)


def test_hysteresis_follows_the_path_and_states_have_none() -> None:
    """h = 1 - exp(-x/w) on the first way, in the column and in what is known."""
    model, (t, y, yd, ydd), _ = path(True)
    plain, _, _ = path(False)
    along = observe_path(model, y, yd, ydd, time=t)
    column = [c.name for c in model.columns].index("hysteresis_turn_A")
    rising = np.flatnonzero(np.diff(y[:, 0]) < 0)[0]
    h = 1 - np.exp(-(y[: rising + 1, 0] - y[0, 0]) / 0.05)
    np.testing.assert_allclose(along.W[: rising + 1, 0, column], h, atol=1e-9)
    others = [c for c in range(len(model.columns)) if c != column]
    bare = observe_path(plain, y, yd, ydd, time=t)
    np.testing.assert_allclose(along.W[..., others], bare.W, atol=1e-9)
    extra = (along.known - bare.known)[:, 0]
    assert extra[0] == 0.0
    assert np.abs(extra[1:]).min() > 1e-3
    # Without time, without order, or one sample alone: states, with ṡ / (|ṡ| + w).
    alone = yd[:, 0] / (np.abs(yd[:, 0]) + 0.05)
    for states in (
        observe_path(model, y, yd, ydd),
        observe_path(model, y, yd, ydd, time=t, ordered=False),
        observation_matrix(solve_motion(model.mechanism, y, yd, ydd)),
    ):
        np.testing.assert_allclose(states.W[..., 0, column], alone, atol=1e-9)
    one = observe_path(model, y[:1], yd[:1], ydd[:1], time=t[:1])
    assert one.W[0, 0, column] == pytest.approx(alone[0])
    assert (NO_PAST, ALONE) == ("none", "alone")


def test_memory_of_a_shorter_block() -> None:
    seen = Observation(np.zeros((4, 1, 3)), np.zeros((4, 1)), ())
    assert _beginning(None, 2) is None
    assert _beginning(seen, 5) is None
    for n in (3, 4):
        part = _beginning(seen, n)
        assert part is not None
        assert (len(part.W), len(part.known)) == (n, n)
        assert np.shares_memory(part.W, seen.W)


def test_faults_of_arrays() -> None:
    good = np.zeros((2, 3))
    locked = good.copy()
    locked.flags.writeable = False
    for array, words in (
        (good, ""),
        (good.tolist(), "must be an array, got list"),
        (good.T, r"must have shape (2, 3), got (3, 2)"),
        (good.astype(np.float32), "must hold numbers of type float64, got float32"),
        (good.astype(">f8"), "must hold numbers of type float64, got >f8"),
        (np.zeros((2, 6))[:, ::2], "must be contiguous in memory"),
        (locked, "must be writeable"),
    ):
        assert _fault(array, (2, 3)) == words


def test_laws_that_leave_the_range_of_numbers() -> None:
    model, _, _ = path(False)
    W, known = np.zeros((2, 1, len(model.columns))), np.zeros((2, 1))
    _refuse_overflow(model, W, known)
    W[0, 0, 3] = np.inf  # of a body: something else is wrong, and said elsewhere
    _refuse_overflow(model, W, known)
    W[1, 0, 31] = np.nan
    with pytest.raises(MechidError, match=f"the force of {model.columns[31].name} is not a finite"):
        _refuse_overflow(model, W, known)
    W[0, 0, 30] = np.inf
    names = ", ".join(c.name for c in model.columns[30:32])
    with pytest.raises(MechidError, match=f"the force of {names} is not"):
        _refuse_overflow(model, W, known)
    with pytest.raises(MechidError, match="the force of a known element is not"):
        _refuse_overflow(model, 0 * np.ones_like(W), known + np.inf)


def test_cad_values_of_all_columns() -> None:
    model, _, _ = path(False)
    values = cad_parameters(model)
    assert values.shape == (len(model.columns),)
    assert values[0] == 1.2
    other = replace(model, columns=(replace(model.columns[0], value=None), *model.columns[1:]))
    assert np.isnan(cad_parameters(other)).tolist() == [True] + [False] * (len(values) - 1)
