"""Advice: what it says follows from what it computed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import mechid
from mechid.cli.app import app
from mechid.errors import DataError
from mechid.studies.advice import sensor_words
from mechid.studies.advise import PERIODS, target_of


@pytest.fixture(scope="module")
def both() -> mechid.Advice:
    return mechid.advise("five_bar", target="E_p<1%", cad_error="20%", draws=2)


@pytest.fixture(scope="module")
def one() -> mechid.Advice:
    return mechid.advise("five_bar", target="E_p<1%", forces=["M1"], cad_error="20%", draws=0)


@pytest.mark.slow
def test_how_long(both: mechid.Advice) -> None:
    assert both.seconds is not None
    before = [e for s, (e, _) in both.errors.items() if s < both.seconds]
    assert both.errors[both.seconds][0] <= 0.01 < min(before, default=1.0)
    assert len(both.errors) == len(PERIODS)
    # More time never makes it worse, and CAD values alone are worst.
    designed = [e for e, _ in both.errors.values()]
    assert np.all(np.diff([both.cad, *designed]) < 0)
    assert set(both.without) == {"M1", "M2"}


def test_the_missing_sensor(one: mechid.Advice, both: mechid.Advice) -> None:
    """One of two motors is not enough, and the other's torque is what is missing."""
    assert one.seconds is None
    assert "E_p < 1.0% is not reached with M1" in one.words[1]
    last = max(one.errors)
    assert one.sensors["M2"] == pytest.approx(both.errors[last][0], rel=1e-6)
    best = next(iter(one.sensors))
    assert any(f"What would help most is {sensor_words(best)}" in text for text in one.words)
    assert sensor_words("axial:rod") == "strain gauges along rod"


def test_parameters(one: mechid.Advice, both: mechid.Advice) -> None:
    base = set(mechid.base_parameters(mechid.load("five_bar")).chosen.base)
    assert {*both.determined, *both.resting} == {*one.determined, *one.resting} == base
    assert len(both.determined) >= len(one.determined)


def test_check(both: mechid.Advice) -> None:
    assert len(both.checked) == 2
    assert both.seconds is not None
    # Expected values and draws are about the same.
    assert 0.2 < np.mean(both.checked) / both.errors[both.seconds][0] < 5.0


@pytest.mark.slow
def test_a_record_as_model() -> None:
    by_name, by_record = (
        mechid.advise(model, draws=0) for model in ("pendulum", mechid.load("pendulum"))
    )
    assert by_name.seconds == by_record.seconds
    assert by_name.words == by_record.words


@pytest.mark.parametrize(
    ("given", "expected"), [("E_p<5%", 0.05), ("E_p ≤ 2 %", 0.02), (0.1, 0.1), ("0.03", 0.03)]
)
def test_targets(given: str | float, expected: float) -> None:
    assert target_of(given) == pytest.approx(expected)


@pytest.mark.parametrize("given", ["E_p<", "soon", "-1", "E_p<0%"])
def test_targets_that_make_no_sense(given: str) -> None:
    with pytest.raises(DataError, match="target must be E_p<VALUE"):
        target_of(given)


@pytest.mark.slow
def test_how_far_it_is() -> None:
    """Every motion that is drawn and every step of its search is told, and every check."""
    told: list[tuple[str, int, float]] = []
    found = mechid.advise("pendulum", seed=5, draws=2, watch=lambda *words: told.append(words))
    assert told[0][:2] == ("designing a motion", 0)
    drawn = [step for stage, step, _ in told if stage == "designing a motion, random"]
    assert drawn[:60] == list(range(1, 61))
    assert any(stage == "designing a motion, start 1" for stage, *_ in told)
    checks = tuple(value for stage, step, value in told if stage == "check" and step)
    assert checks == found.checked
    told.clear()
    mechid.excite("pendulum", random=2, starts=0)
    assert told == []  # of other designs nothing is told


def test_command_shows_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechid.cli.progress.EVERY", 0.0)
    found = CliRunner().invoke(app, ["advise", "pendulum", "--seed", "6", "--draws", "1"])
    lines = [line.partition(" s: ")[2] for line in found.stderr.splitlines()]
    assert lines[0] == "designing a motion"
    assert any(line.startswith("designing a motion, random: 30, ") for line in lines)
    assert lines[-1].startswith("check: 1, ")


def test_command(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "motion.yaml"
    line = ["advise", "pendulum", "--draws", "0", "--json", "-o", str(path)]
    found = CliRunner().invoke(app, line)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["model"] == "pendulum"
    assert mechid.load_trajectory(path).names
    assert "the file exists" in str(CliRunner().invoke(app, line).exception)
    shown = CliRunner().invoke(app, ["advise", "pendulum", "--draws", "0", "--motion", str(path)])
    assert "CAD values alone" in shown.output


def test_wrong_force() -> None:
    with pytest.raises(DataError, match="there is no force M9"):
        mechid.advise("five_bar", forces="M9")
