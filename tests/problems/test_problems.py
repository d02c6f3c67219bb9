"""The benchmark problems: references that agree with each other, and simulations with them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mechid.dynamics.simulate import FORMULATIONS, simulate
from mechid.kinematics.tables import Floats
from mechid.modelfile import load

from ..records import stale_tables
from .page import FIGURES, PAGE, read_record, tables
from .problems import PROBLEMS, SQUEEZER, Problem, n_four_bar, squeezer

# Parts of the whole time: references take time, too.
PARTS = {"four-bar-40": 0.1, "governor": 0.01, "bricard": 0.2, "squeezer": 0.5, "slider-crank": 0.2}
SLOW = ("four-bar-40", "governor")  # minutes with positions and Euler parameters of all bodies
TIGHT = 1e-6  # largest error, rad or m


@cache
def window(name: str, part: float = 1.0) -> tuple[Floats, Floats]:
    """Return times and truth of a part of a problem."""
    p = PROBLEMS[name]
    times = np.linspace(0, p.end * part * PARTS.get(name, 1.0), 11)
    return times, p.truth(times)


def settings(p: Problem) -> dict[str, object]:
    return {"integrator": "Radau", "rtol": 1e-8, "atol": 1e-10} if p.stiff else {}


def test_equations_by_hand_give_the_published_digits() -> None:
    found = squeezer(np.array([0.0, 0.03]))[-1]
    assert np.abs(found - SQUEEZER).max() < 2e-9


def test_squeezer_has_the_published_angles() -> None:
    model = load("andrews_squeezer")
    found = simulate(model, np.array([0.0, 0.03]), rtol=1e-11, atol=1e-12)
    names = [j.joint.name for j in found.model.kinematics.tree.joints]
    angles = dict(zip(names, found.q[-1], strict=True))
    published = ("beta", "Theta", "gamma", "phi", "delta", "Omega", "epsilon")
    for name, value in zip(published, SQUEEZER, strict=True):
        assert angles[name] == pytest.approx(value, abs=3e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_reference_and_energy(name: str) -> None:
    times, truth = window(name)
    found = simulate(PROBLEMS[name].mechanism(), times, **settings(PROBLEMS[name]))
    assert np.abs(found.y[:, 0] - truth).max() < 10 * TIGHT
    scale = np.abs(found.kinetic).max() + np.ptp(found.potential)
    assert np.abs(found.energy_error).max() < 1e-5 * scale
    assert found.constraint_error.max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        (name, formulation)
        for name in PROBLEMS
        for formulation in FORMULATIONS[1:]
        if formulation != "augmented" or name not in SLOW
    ],
)
def test_formulations_agree(name: str, formulation: str) -> None:
    """On the first part of the way: singular poses are in tests/dynamics."""
    p = PROBLEMS[name]
    times, truth = window(name, 0.02 if formulation == "augmented" else 0.1)
    options = settings(p) | {"rtol": 1e-7, "atol": 1e-9}
    found = simulate(p.mechanism(), times, formulation=formulation, **options)
    assert np.abs(found.y[:, 0] - truth).max() < TIGHT


def test_row_of_any_number_is_that_of_the_zoo() -> None:
    times = np.linspace(0, 1, 5)
    for n, spec in ((1, "n_four_bar@one"), (2, "n_four_bar")):
        found, zoo = simulate(n_four_bar(n), times), simulate(load(spec), times)
        assert np.array_equal(found.y, zoo.y)


def test_page_shows_the_record() -> None:
    record = read_record()
    assert set(record["problems"]) == set(PROBLEMS)
    assert stale_tables(PAGE, tables(record)) == []
    for name in record["problems"]:
        assert (FIGURES / f"problem-{name}.svg").exists()


def test_all_crossings_in_the_record_are_right() -> None:
    assert {row["outcome"] for row in read_record()["crossing"]} == {"right"}
