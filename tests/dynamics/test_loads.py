"""Forces from tables: between samples, at the ends, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.loads import table_forces
from mechid.errors import DataError

NOTHING = np.zeros(0)
TIME = np.array([0.0, 0.5, 2.0])
VALUES = np.array([[1.0, -2.0], [3.0, 0.0], [0.0, 6.0]])


def at(law, t: float) -> np.ndarray:
    return law(t, NOTHING, NOTHING)


@pytest.mark.parametrize("interpolation", ["linear", "cubic", "hold"])
def test_samples_are_met(interpolation):
    law = table_forces(TIME, VALUES, interpolation)
    for t, values in zip(TIME, VALUES, strict=True):
        np.testing.assert_allclose(at(law, t), values, atol=1e-14)


def test_linear_lies_on_the_chord():
    np.testing.assert_allclose(at(table_forces(TIME, VALUES), 0.25), [2.0, -1.0])
    np.testing.assert_allclose(at(table_forces(TIME, VALUES), 1.25), [1.5, 3.0])


def test_hold_keeps_the_last_sample():
    law = table_forces(TIME, VALUES, "hold")
    np.testing.assert_array_equal(at(law, 0.4999), VALUES[0])
    np.testing.assert_array_equal(at(law, 1.9999), VALUES[1])


def test_cubic_reproduces_a_cubic():
    t = np.linspace(-1.0, 1.0, 7)
    law = table_forces(t, (t**3 - t)[:, None], "cubic")
    assert at(law, 0.123)[0] == pytest.approx(0.123**3 - 0.123, abs=1e-14)


def test_one_sample_holds_at_its_time():
    law = table_forces(np.array([1.0]), np.array([[4.0]]))
    assert at(law, 1.0)[0] == 4.0
    with pytest.raises(DataError, match="t = 2 s"):
        at(law, 2.0)


def test_what_it_returns_is_not_the_table():
    law = table_forces(TIME, VALUES, "hold")
    at(law, 0.1)[:] = 99.0
    np.testing.assert_array_equal(at(law, 0.1), VALUES[0])


@pytest.mark.parametrize("t", [-0.01, 2.01, np.nan])
def test_times_outside_are_refused_with_time_and_range(t):
    with pytest.raises(DataError, match="goes from 0 s to 2 s") as caught:
        at(table_forces(TIME, VALUES), t)
    assert f"t = {t:g} s" in str(caught.value)


def test_rounding_of_the_ends_is_forgiven():
    np.testing.assert_allclose(at(table_forces(TIME, VALUES), 2.0 + 1e-12), VALUES[-1])


def test_a_gap_names_time_and_force():
    broken = VALUES.copy()
    broken[1, 1] = np.nan
    with pytest.raises(DataError, match=r"sample 1: force number 2 has no value at t = 0.5 s"):
        table_forces(TIME, broken)


@pytest.mark.parametrize(
    ("time", "what"),
    [
        ([0.0, 0.0, 1.0], r"sample 1: time does not increase: 0 s comes after 0 s"),
        ([0.0, 1.0, 0.5], r"sample 2: time does not increase: 0.5 s comes after 1 s"),
        ([0.0, np.nan, 1.0], "sample 1: the time is not a finite number"),
    ],
)
def test_times_that_do_not_increase(time, what):
    with pytest.raises(DataError, match=what):
        table_forces(np.array(time), VALUES)


def test_shapes_and_words():
    with pytest.raises(DataError, match=r"\(2,\) and \(3, 2\)"):
        table_forces(TIME[:2], VALUES)
    with pytest.raises(DataError, match=r"needs times"):
        table_forces(np.zeros(0), np.zeros((0, 2)))
    with pytest.raises(DataError, match="choose one of linear, cubic, hold"):
        table_forces(TIME, VALUES, "square")  # type: ignore[arg-type]


def test_ends_may_be_missed_by_a_millionth_of_a_step():
    """Of the mean step, 1 s here: from 0 to 2 s by three samples."""
    forces = table_forces(TIME, VALUES)
    for inside in (-0.9e-6, 2 + 0.9e-6):
        np.testing.assert_array_equal(at(forces, inside), VALUES[0 if inside < 0 else -1])
    for outside in (-1.1e-6, 2 + 1.1e-6):
        with pytest.raises(DataError, match="there is no force"):
            at(forces, outside)
    # One sample has no step: only its own time is known.
    alone = table_forces(TIME[:1], VALUES[:1])
    with pytest.raises(DataError):
        at(alone, 1e-12)


def test_a_spline_without_finite_slopes():
    time = np.array([0.0, 1e-320, 1.0])
    with pytest.raises(DataError, match="no finite slopes"):
        table_forces(time, VALUES, "cubic")
    np.testing.assert_array_equal(at(table_forces(time, VALUES), 1.0), VALUES[-1])


def test_the_table_is_copied():
    time, values = TIME.copy(), VALUES.copy()
    forces = table_forces(time, values, "hold")
    values[:], time[:] = 99.0, -1.0
    np.testing.assert_array_equal(at(forces, 2.0), VALUES[-1])
    with pytest.raises(DataError, match=r"got \(3, 1\) and"):
        table_forces(TIME[:, None], VALUES)
    with pytest.raises(DataError, match=r"and \(3,\)"):
        table_forces(TIME, VALUES[:, 0])
