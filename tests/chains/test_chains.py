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
from tests.records import DATA, stale_tables

from mechid.base.analyse import base_parameters
from mechid.errors import KinematicsError
from mechid.exact.field import field_rank
from mechid.exact.numbers import recognise
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
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


@pytest.mark.slow
def test_a_chain_through_the_first_stage(tmp_path: Path) -> None:
    words = ["--count", "1", "--first", "4", "--folder", str(tmp_path)]
    command = [sys.executable, "-m", "tests.chains", *words]
    subprocess.run(command, check=True, cwd=REPOSITORY, capture_output=True)
    found = json.loads((tmp_path / "1-004" / "count.json").read_text("utf-8"))
    assert [found[words[0]]["status"] for words in STAGES["count"]] == [0, 0]
    record = collected(tmp_path)
    assert record[0]["commands"]["field"]["rank"] > 0
    assert "| rank over a prime field | 1 |" in tables(record)["ranks"]


def test_parameters_without_effect_are_dependent_first() -> None:
    """They are in every choice; where rows of N are nearly dependent, rounding had left one out."""
    mechanism = loads(drawn_model(1, 50))
    assert base_parameters(mechanism).chosen.rank == field_rank(mechanism, primes=1).rank


def test_a_body_that_goes_away_without_bound_ends_the_way() -> None:
    """A slide whose direction turns into a plane it has to stay on: steps never came to an end."""
    model = kinematic_model(loads(drawn_model(1, 128)))
    far = np.array([0.86055566, -1.44647274, -2.88414841])
    with pytest.raises(KinematicsError, match=r"the branch ends .* % of the way"):
        solve_motion(model, far[None], ordered=False)


@pytest.mark.slow
def test_of_columns_that_are_alike_the_largest_is_a_pivot() -> None:
    """Where redundant constraints hold to rounding only, tiny columns are nothing but that."""
    mechanism = loads(drawn_model(1, 187))
    chosen = base_parameters(mechanism, certify=True).chosen
    assert chosen.rank == field_rank(mechanism, primes=1).rank


def test_the_page_is_that_of_the_record() -> None:
    record = json.loads((DATA / "chains.json").read_text("utf-8"))
    assert stale_tables("chains.md", tables(record)) == []
