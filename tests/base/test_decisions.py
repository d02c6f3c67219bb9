"""Decisions on the way to the number of base parameters: thresholds, words, small matrices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from mechid.base.bounds import _float_rank, _samples, _states_needed, candidates
from mechid.base.cad import body_covariance, body_jacobian, parameter_covariance
from mechid.base.certificate import Certificate
from mechid.base.experiment import EVERYTHING, Experiment, checked, measured_rows, random_states
from mechid.base.loop_constraints import (
    Alike,
    _ball,
    _null,
    _outside,
    _recognised,
    _reduced,
    _same_kind,
    _scaled,
    products,
)
from mechid.base.quick import CLEAR, QuickRank, spectrum
from mechid.base.verify import Verdict, _fits
from mechid.base.verify import _outside as outside_of
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError, MechidError
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.size import characteristic_size
from mechid.modelfile import load
from mechid.spatial.inertia import parameters

Array = np.ndarray


# ------------------------------------------------------------------------------------- verdicts


def verdict(**changed: Any) -> Verdict:
    values: dict[str, Any] = {
        "model": "thing", "gravity": (0.0, 0.0, -9.81), "experiment": "all motions",
        "claimed": (30, 8, 7), "parameters": 30, "upper": 8, "lower": 7, "valid": True,
        "certified": False, "notes": (),
    }  # fmt: skip
    return Verdict(**values | changed)


LOW, HIGH = "lower bound not proved: so", "upper bound not proved: so"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"certified": True, "upper": 7}, "exactly 7 of 30 parameters can be identified"),
        ({}, "at least 7 and at most 8 of 30 parameters can be identified"),
        ({"notes": (LOW,)}, "at most 8 of 30 parameters can be identified"),
        ({"notes": (HIGH,)}, "at least 7 of 30 parameters can be identified"),
        ({"notes": ("x", LOW, HIGH)}, "nothing"),
        ({"notes": (f"x {LOW}",)}, "at least 7 and at most 8 of 30 parameters can be identified"),
    ],
)
def test_what_is_proved_in_words(changed: dict[str, Any], words: str) -> None:
    assert verdict(**changed).proved == words


def certificate(**changed: Any) -> Certificate:
    """Return what is looked at first in a certificate of the five-bar, two states at rest."""
    values = {
        "columns": ("m_1",), "dependent": (), "rows": ((0, 1),), "precision": 200,
        "states": (state(), state()), "experiment": EVERYTHING,
    }  # fmt: skip
    return SimpleNamespace(**values | changed)  # type: ignore[return-value]


def state(**changed: Any) -> Any:
    pose = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0) * len(load("five_bar").bodies)
    values = {"y": (0.1, 0.2), "yd": (0.0, 0.0), "ydd": (0.0, 0.0), "pose": pose}
    return SimpleNamespace(**values | changed)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"columns": ("m_99",)}, "the model has no parameter m_99"),
        ({"dependent": ("z",)}, "the model has no parameter z"),
        ({"rows": ((2, 0),)}, "there is no row 0 of state 2"),
        ({"rows": ((-1, 0),)}, "there is no row 0 of state -1"),
        ({"rows": ((0, 2),)}, "there is no row 2 of state 0"),
        ({"rows": ((0, -1),)}, "there is no row -1 of state 0"),
        ({"precision": 52}, "the precision must be between 53 and 960 bits, got 52"),
        ({"precision": 961}, "got 961"),
        ({"states": (state(), state(y=(0.1,)))}, "state 2: wrong number of values"),
        ({"states": (state(yd=(0.0,) * 3),)}, "state 1: wrong number of values"),
        ({"states": (state(ydd=(0.0, np.nan)),)}, "state 1: wrong number of values"),
        ({"states": (state(pose=(0.0,) * 3),)}, "state 1: wrong number of values"),
    ],
)
def test_what_does_not_fit_a_model(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=f"certificate.*{words}"):
        _fits(certificate(**changed), load("five_bar"))


def test_what_fits_a_model_at_the_bounds() -> None:
    for precision in (53, 960):
        rows = ((0, 0), (1, 1))
        _fits(certificate(precision=precision, rows=rows), load("five_bar"))


@pytest.mark.parametrize(
    ("experiment", "second", "words"),
    [
        (Experiment(static=True), {}, []),
        (Experiment(static=True), {"yd": (0.0, 1.0)}, ["state 2 moves, but the experiment is"]),
        (Experiment(static=True), {"ydd": (1.0, 0.0)}, ["state 2 moves, but the experiment is"]),
        (Experiment(hold=("q2",)), {"yd": (1.0, 0.0), "y": (9.0, 0.2)}, []),
        (Experiment(hold=("q2",)), {"y": (0.1, 0.3)}, ["state 2 moves q2, which is held"]),
        (Experiment(hold=("q2",)), {"yd": (0.0, 1.0)}, ["state 2 moves q2, which is held"]),
        (Experiment(hold=("q2",)), {"ydd": (0.0, 1.0)}, ["state 2 moves q2, which is held"]),
        (Experiment(measure=("q1",)), {}, ["the force on q2 is used, but not measured"]),
        (Experiment(measure=("M2",)), {}, []),
    ],
)
def test_states_outside_of_an_experiment(
    experiment: Experiment, second: dict[str, Any], words: list[str]
) -> None:
    given = certificate(experiment=experiment, states=(state(), state(**second)))
    found = outside_of(given, load("five_bar"))
    assert len(found) == len(words)
    assert all(a.startswith(b) for a, b in zip(found, words, strict=True))


# ---------------------------------------------------------------------------------- experiments


def test_words_of_experiments() -> None:
    assert EVERYTHING.words == "all motions; measured forces: all"
    some = Experiment(hold=("a", "b"), measure=("c",), static=True)
    assert some.words == "poses at rest with a, b held; measured forces: c"
    assert EVERYTHING.whole
    for experiment in (
        Experiment(hold=("a",)),
        Experiment(measure=("a",)),
        Experiment(static=True),
    ):
        assert not experiment.whole
    mechanism = load("five_bar")
    assert EVERYTHING.gravity_of(mechanism) == mechanism.gravity
    assert Experiment(gravity=(1.0, 2.0, 3.0)).gravity_of(mechanism) == (1.0, 2.0, 3.0)
    assert Experiment(gravity=(1.0, 2.0, 3.0)).whole


def test_names_of_experiments() -> None:
    mechanism = load("five_bar")
    found = checked(Experiment(hold=("q1", "q1"), measure=("M2", "q1")), mechanism)
    assert (found.hold, found.measure) == (("q1",), ("q2", "q1"))
    assert measured_rows(found, mechanism) == [1, 0]
    assert measured_rows(EVERYTHING, mechanism) == [0, 1]
    for experiment, words in (
        (Experiment(hold=("M1",)), "no independent coordinate M1 to hold; choose one of: q1, q2"),
        (Experiment(measure=("A1",)), "no force A1 to measure; choose one of: M1, M2"),
        (Experiment(measure=()), "at least one force must be measured"),
    ):
        with pytest.raises(MechidError, match=words):
            checked(experiment, mechanism)


@pytest.mark.parametrize("wide", [True, False])
def test_how_far_random_states_go(wide: bool) -> None:
    """Near home by 0.35 rad; every second one anywhere in the range, if wide; speeds ten times
    and accelerations fifty times as large."""
    mechanism = load("pendulum")
    home = kinematic_model(mechanism).home_y
    found = random_states(mechanism, EVERYTHING, 200, wide=wide)
    away = np.abs(found.y - home)[:, 0]
    assert 0.3 < away[::2].max() <= 0.35
    assert away[1::2].max() > 1.0 if wide else away[1::2].max() <= 0.35
    for values, most in ((found.yd, 3.5), (found.ydd, 17.5)):
        assert 0.9 * most < np.abs(values).max() <= most
        assert values.min() < 0 < values.max()


def test_slides_go_a_tenth_of_the_size() -> None:
    mechanism = load("quarter_vehicle")
    L = characteristic_size(mechanism)
    home = kinematic_model(mechanism).home_y
    found = random_states(mechanism, EVERYTHING, 60, wide=False)
    for i, c in enumerate(mechanism.coordinates):
        most = 0.35 if c.unit == "rad" else 0.1 * L
        assert np.abs(found.y[:, i] - home[i]).max() <= most * (1 + 1e-9)


def test_held_coordinates_and_poses_at_rest() -> None:
    mechanism = load("five_bar")
    home = kinematic_model(mechanism).home_y
    held = random_states(mechanism, checked(Experiment(hold=("q1",)), mechanism), 12)
    assert np.all(held.y[:, 0] == home[0])
    assert not held.yd[:, 0].any()
    assert held.yd[:, 1].any()
    still = random_states(mechanism, Experiment(static=True), 12)
    assert not still.yd.any()
    assert not still.ydd.any()
    assert np.ptp(still.y, axis=0).min() > 0.1
    again = random_states(mechanism, Experiment(static=True), 12)
    np.testing.assert_array_equal(again.y, still.y)
    other = random_states(mechanism, Experiment(static=True), 12, seed=1)
    assert not np.array_equal(other.y, still.y)


# ------------------------------------------------------------------------------------ CAD values


def test_derivatives_of_the_ten_by_differences() -> None:
    cad = load("five_bar").bodies[0].inertia
    assert cad is not None
    x0 = np.array([cad.mass, *cad.center, *cad.inertia_center])

    def ten(x: Array) -> Array:
        return parameters(float(x[0]), x[1:4], x[4:])

    step = 1e-6
    wanted = np.column_stack(
        [(ten(x0 + step * e) - ten(x0 - step * e)) / (2 * step) for e in np.eye(10)]
    )
    np.testing.assert_allclose(body_jacobian(cad), wanted, atol=1e-9)


def test_where_covariances_of_parameters_stand() -> None:
    mechanism = load("five_bar")
    whole = parameter_covariance(mechanism, 0.1, declared=False)
    wanted = np.zeros_like(whole)
    for i, body in enumerate(mechanism.bodies):
        assert body.inertia is not None
        part = slice(10 * i, 10 * i + 10)
        wanted[part, part] = body_covariance(body.inertia, 0.1, declared=False)
    columns = dynamic_model(mechanism).columns
    for k in range(10 * len(mechanism.bodies), len(columns)):
        wanted[k, k] = (columns[k].sigma or 0.0) ** 2
    np.testing.assert_allclose(whole, wanted)
    # The mass errs by the usual part of itself.
    mass = mechanism.bodies[0].inertia.mass  # type: ignore[union-attr]
    assert np.sqrt(whole[0, 0]) == pytest.approx(0.1 * mass)


# ----------------------------------------------------------------------------- ranks in floats


def _rank(W: np.ndarray) -> int:
    return int(np.sum(spectrum(W[None]) > CLEAR))


def test_ranks_of_matrices_in_floats() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 3))
    W = np.column_stack([A, 1e6 * (A[:, 0] + A[:, 1]), 1e-4 * A[:, 2] + 1e-3 * A[:, 0]])
    assert _float_rank(W) == 3
    assert _rank(W) == 3
    assert _float_rank(np.zeros((4, 2))) == 0
    assert _float_rank(np.zeros((4, 0))) == 0
    assert _rank(np.zeros((4, 0))) == 0
    assert _rank(np.zeros((4, 2))) == 0
    # A column below a billionth of the longest one does not count.
    unit = A / np.linalg.norm(A, axis=0)
    for size, rank in ((0.5e-9, 2), (2e-9, 3)):
        assert _float_rank(unit * [1.0, 1.0, size]) == rank
    # Columns that differ by a small angle.
    for angle, rank, quick in ((1e-10, 2, 1), (1e-8, 2, 2), (1e-12, 1, 1)):
        B = np.column_stack([A[:, 0], A[:, 0] + angle * A[:, 1]])
        assert _float_rank(B) == rank
        assert _rank(B) == quick
    assert QuickRank(4, 4, "x").reached
    assert not QuickRank(4, 3, "x").reached


def test_samples_are_spread_over_a_motion() -> None:
    seen: list[Array] = []
    motion: Any = SimpleNamespace(y=np.zeros((11, 1)), chosen=lambda at: seen.append(at))
    _samples(motion, 3)
    _samples(motion, 40)
    assert seen[0].tolist() == [0, 5, 10]
    assert seen[1].tolist() == list(range(11))  # each once


@pytest.mark.parametrize(
    ("sees", "kept", "n"),
    # So many states that the forces together see the rank and four rows more; two more then.
    [
        ([5, 5], 6, 5 + 2),
        ([9, 1], 6, 9 + 2),
        ([20, 20], 10, 7 + 2),
        # Double precision does not see it: as many as the number of rows asks for.
        ([1, 1], 9, 7 + 2),
        ([0], 3, 7 + 2),
    ],
)
def test_how_many_states_are_needed(
    sees: list[int], kept: int, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mechid.base import bounds

    W = np.zeros((50, len(sees), kept))
    monkeypatch.setattr(bounds, "float_observation", lambda *_: W)
    ranks = iter(sees)
    monkeypatch.setattr(bounds, "_float_rank", lambda _: next(ranks))
    names = tuple("p" * kept)
    assert _states_needed(None, EVERYTHING, None, names, 0) == n  # type: ignore[arg-type]


def test_candidates_are_what_transfers_leave() -> None:
    """p1 = 0 is known; p0 - p2 and p1 + p3 are transfers: the second is used up by the zero."""
    N = np.zeros((5, 2))
    N[[0, 2], 0] = [1.0, -1.0]
    N[[1, 3], 1] = [1.0, 1.0]
    null: Any = SimpleNamespace(
        names=("p0", "p1", "p2", "p3", "p4"), zeros=frozenset({"p1"}), transfers=(1, 2), matrix=N
    )
    kept = candidates(null)
    assert len(kept) == 3
    assert {"p3", "p4"} <= set(kept)
    assert len({"p0", "p2"} & set(kept)) == 1
    null.transfers = ()
    assert candidates(null) == ("p0", "p2", "p3", "p4")
    null.zeros, null.transfers = frozenset(), (1, 2)
    assert len(candidates(null)) == 3


# ------------------------------------------------------------------ numbers that are recognised


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (0.75, sp.Rational(3, 4)),
        (-2.0, sp.Integer(-2)),
        (np.sqrt(0.5), sp.sqrt(sp.Rational(1, 2))),
        (-np.sqrt(3.0) / 7, -sp.sqrt(3) / 7),
        (1 / 9999, sp.Rational(1, 9999)),
        (np.pi, None),
        (np.sqrt(2.0) + np.sqrt(3.0), None),
    ],
)
def test_recognised_numbers(value: float, exact: sp.Expr | None) -> None:
    found = _recognised(np.array([1.0, value]))
    if exact is None:
        assert found is None
    else:
        assert found is not None
        assert found[0] == 1
        assert sp.simplify(found[1] - exact) == 0
        assert float(_ball(found[1]).mid()) == pytest.approx(float(exact), rel=1e-15)
        assert _ball(found[1]).rad() < 1e-15


def test_vectors_outside_of_a_span() -> None:
    span = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    assert not _outside(span, np.array([2.0, 5.0, 0.0]))
    assert _outside(span, np.array([2.0, 5.0, 1e-3]))
    assert not _outside(span, np.array([2.0, 5.0, 1e-6]))
    assert _outside(np.zeros((0, 3)), np.array([1.0, 0.0, 0.0]))


def test_null_spaces_of_poses() -> None:
    """Of a body that turns about the vertical through (2, 0, 0): a point and a direction rest."""
    turn = np.linspace(0.1, 1.0, 7)
    A = np.zeros((7, 3, 4))
    c, s = np.cos(turn), np.sin(turn)
    A[:, 0, 0], A[:, 0, 1], A[:, 1, 0], A[:, 1, 1], A[:, 2, 2] = c, -s, s, c, 1.0
    point = np.array([2.0, 0.0, 0.0])
    A[:, :, 3] = point - A[:, :, :3] @ point  # p = x - R x: the point rests
    size = 4.0
    scaled = _scaled(A[1:] - A[0], size)
    assert scaled.shape == (18, 4)
    np.testing.assert_allclose(scaled[:, 3], (A[1:] - A[0])[:, :, 3].ravel() / size)
    found = _null(scaled, size)
    # The point (2, 0, 0, 1) first, since fourth components come first, then the direction z.
    np.testing.assert_allclose(found, [[2.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]], atol=1e-9)


def test_reduced_vectors() -> None:
    rows = np.array([[1.0, 2.0, 3.0, 2.0], [2.0, 4.0, 6.0, 4.0], [1.0, 1.0, 0.0, 0.0]])
    found = _reduced(rows)
    assert len(found) == 2
    np.testing.assert_allclose(found[:, 3], [1.0, 0.0])
    # The second is free of the pivot of the first, and both span the same plane.
    both = np.vstack([found, rows])
    assert np.linalg.matrix_rank(both) == 2
    assert found[1, 0] == 1.0
    assert found[0, 0] == 0.0


def test_points_go_with_points() -> None:
    a = np.array([1.0, 0, 0, 1, 2, 0, 0, 1])  # a point of both
    b = np.array([0.0, 1, 0, 1, 0, 0, 0, 0])  # a point of one only
    c = np.array([0.0, 0, 1, 0, 0, 0, 1, 0])  # a direction of both
    assert len(_same_kind(np.array([a, c]))) == 2
    found = _same_kind(np.array([a, b, c]))
    assert len(found) == 2
    np.testing.assert_allclose(found[:, 3], found[:, 7], atol=1e-12)
    # Combined: a point of one and a point of the other.
    d = np.array([0.0, 0, 0, 0, 5, 0, 0, 1])
    (mixed,) = _same_kind(np.array([b, d]))
    np.testing.assert_allclose(mixed, b + d)


def test_products_of_what_moves_alike() -> None:
    r = tuple(sp.Integer(k) for k in (1, 0, 0, 0))
    s = tuple(sp.Integer(k) for k in (0, 1, 0, 0))
    found = list(products(Alike(("a", "b"), ((r, r), (s, s)), (False, False))))
    assert len(found) == 3
    assert all(one == other for one, other in found)
    # r r, and r s where both are the same on one side only: that side is doubled.
    doubled = list(products(Alike(("a", "b"), ((r, r), (r, s)), (False, False))))
    on_i, on_j = doubled[1]
    square, mixed = doubled[0][0], found[1][0]
    assert on_i == tuple(2 * x for x in square)
    assert on_j == mixed
