"""A few random closed chains through the commands; the trial takes 200 (make chains)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.chains.draw import Twists, drawn_model
from tests.chains.record import collected, loops, tables
from tests.chains.trial import STAGES

from mechid.exact.numbers import recognise
from mechid.kinematics.mobility import mobility
from mechid.modelfile import loads

REPOSITORY = Path(__file__).parents[2]


def test_draws_are_repeated() -> None:
    assert drawn_model(3, 1) == drawn_model(3, 1) != drawn_model(3, 2)


@pytest.mark.parametrize("number", range(5))
def test_chains_have_the_freedoms_they_declare(number: int) -> None:
    """Counted here from twists in the reference pose, there from generic poses nearby."""
    mechanism = loads(drawn_model(1, number))
    assert 1 <= loops(mechanism) <= 6
    found = mobility(mechanism)
    assert found.dof - found.passive_dof == Twists(mechanism).motions().shape[1]
    assert found.independent == len(mechanism.coordinates)
    assert found.undetermined == 0 == len(found.dependent)


def test_all_numbers_are_decimals() -> None:
    for number in range(5):
        mechanism = loads(drawn_model(1, number))
        places = [x for body in mechanism.bodies for x in np.ravel(body.frame.origin)]
        turns = [x for body in mechanism.bodies for x in np.ravel(body.frame.rotation)]
        for value in (*places, *turns):
            number_of, exact = recognise(float(value))
            assert exact
            assert number_of.is_rational


def test_a_chain_through_the_first_stage(tmp_path: Path) -> None:
    words = ["--count", "1", "--first", "4", "--folder", str(tmp_path)]
    command = [sys.executable, "-m", "tests.chains", *words]
    subprocess.run(command, check=True, cwd=REPOSITORY, capture_output=True)
    found = json.loads((tmp_path / "1-004" / "count.json").read_text("utf-8"))
    assert [found[words[0]]["status"] for words in STAGES["count"]] == [0, 0]
    record = collected(tmp_path)
    assert record[0]["commands"]["field"]["rank"] > 0
    assert "| rank over a prime field | 1 |" in tables(record)["ranks"]
