"""Motions from tables: columns by name, speeds derived where missing, mistakes named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.modelfile import load
from mechid.signals.interpolate import derivatives
from mechid.tables import read_motion, write_table

FOUR_BAR = load("four_bar")
FIVE_BAR = load("five_bar")


def polynomial(t: np.ndarray, k: int) -> np.ndarray:
    """The k-th derivative of a polynomial of degree 5."""
    return np.asarray(np.polynomial.Polynomial([0.1, -0.4, 0.3, 0.7, -0.2, 0.05]).deriv(k)(t))


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_derivatives_of_a_polynomial_of_degree_five_are_exact() -> None:
    t = np.sort(np.random.default_rng(1).uniform(0.0, 2.0, 40))
    first, second = derivatives(t, polynomial(t, 0))
    assert first == pytest.approx(polynomial(t, 1), abs=1e-9)
    assert second == pytest.approx(polynomial(t, 2), abs=1e-6)


def test_derivatives_of_a_sine_converge_with_the_step() -> None:
    errors = []
    for n in (50, 100, 200):
        t = np.linspace(0.0, 3.0, n)
        first, second = derivatives(t, np.sin(2 * t))
        errors.append(
            [np.abs(first - 2 * np.cos(2 * t)).max(), np.abs(second + 4 * np.sin(2 * t)).max()]
        )
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(rates > [4.5, 3.5])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_few_samples_get_the_polynomial_through_them(n: int) -> None:
    t = np.linspace(1.0, 2.0, n) if n > 1 else np.array([1.0])
    line = np.polynomial.Polynomial(np.arange(1.0, n + 1))
    first, second = derivatives(t, line(t))
    assert first == pytest.approx(line.deriv(1)(t) if n > 1 else 0.0 * t)
    assert second == pytest.approx(line.deriv(2)(t) if n > 2 else 0.0 * t, abs=1e-9)


def test_columns_go_to_their_coordinates_whatever_their_order(tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 11)
    path = tmp_path / "m.parquet"
    columns = {"q2.dd": 7 * t, "q2": 2 * t, "time": t, "q1": t, "q1.d": 5 * t, "q1.dd": 6 * t,
               "q2.d": 3 * t}  # fmt: skip
    write_table(path, columns)
    table = read_motion(path, FIVE_BAR)
    assert table.time.tolist() == t.tolist()
    assert np.array_equal(table.y, np.stack([t, 2 * t], axis=1))
    assert np.array_equal(table.yd, np.stack([5 * t, 3 * t], axis=1))
    assert np.array_equal(table.ydd, np.stack([6 * t, 7 * t], axis=1))
    assert table.notes == ()


def test_missing_rates_are_derived_and_it_says_so(tmp_path: Path) -> None:
    t = np.linspace(0.0, 2.0, 60)
    y = [polynomial(t, k) for k in range(3)]
    path = tmp_path / "m.csv"
    write_table(path, {"time": t, "q1": y[0]})
    table = read_motion(path, FOUR_BAR)
    assert table.yd[:, 0] == pytest.approx(y[1], abs=1e-9)
    assert table.ydd[:, 0] == pytest.approx(y[2], abs=1e-6)
    assert table.notes == (
        "speeds and accelerations derived with a spline of degree 5 through the samples",
    )
    # The acceleration comes from the speed where that is given, and from nothing else.
    write_table(path, {"time": t, "q1": np.zeros_like(t), "q1.d": y[1]})
    table = read_motion(path, FOUR_BAR)
    assert table.ydd[:, 0] == pytest.approx(y[2], abs=1e-8)
    assert table.notes == ("q1.dd derived with a spline of degree 5 through the samples",)


def test_one_sample_is_a_pose_at_rest(tmp_path: Path) -> None:
    table = read_motion(write(tmp_path / "m.csv", "time,q1\n0,0.5\n"), FOUR_BAR)
    assert table.yd.tolist() == table.ydd.tolist() == [[0.0]]
    assert table.notes == ("one sample: speeds and accelerations are zero",)


def test_other_columns_are_left_alone_with_a_note(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "time,q1,comment\n0,0.5,a\n1,0.6,\n")
    assert read_motion(path, FOUR_BAR).notes[-1] == "not used: comment"
    path = write(tmp_path / "m.csv", "time,q1,q1.D\n0,0.5,1\n1,0.6,1\n")
    assert read_motion(path, FOUR_BAR).notes[-1] == "not used: q1.D (did you mean q1.d?)"


def test_degrees_are_suspected(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "time,q1\n0,0\n1,360\n")
    assert "360 rad, 57.3 turns; angles are in radians" in read_motion(path, FOUR_BAR).notes[-1]
    path = write(tmp_path / "m.csv", "time,q1 [deg]\n0,0\n1,360\n")
    with pytest.raises(DataError, match=r"q1 \[deg\] seems to be in deg; give q1 in SI"):
        read_motion(path, FOUR_BAR)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t,q1\n0,1\n", "missing column time; the table has t, q1"),
        ("time,Q1\n0,1\n", "missing column q1; the table has time, Q1; did you mean Q1"),
        ("time,q1\n", "no rows"),
        ("time,q1\n0,1\n0.1,\n", "row 2, column q1: the value is missing"),
        ("time,q1,q1.d\n0,1,x\n", 'row 1, column q1.d: "x" is not a number'),
        ("time,q1\n0,1\n0.2,1\n0.1,1\n", "row 3, column time: .* 0.1 s comes after 0.2 s"),
        ("time,q1\n0,1\n0.2,1\n0.2,1\n", "row 3, column time: .* 0.2 s occurs twice"),
        ("time,q1\n0,1\nlater,1\n", 'row 2, column time: "later" is not a number'),
    ],
)
def test_bad_tables_are_refused_in_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read_motion(write(tmp_path / "m.csv", text), FOUR_BAR)
    assert "m.csv" in str(caught.value)
    assert "\n" not in str(caught.value)
