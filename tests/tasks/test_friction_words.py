"""Friction of another kind than the model has, which its parameters take up: said, or not there."""

from __future__ import annotations

from typing import Any, get_args

import pytest

import mechid
from mechid.cli.measured import Friction
from mechid.modelfile import load
from mechid.options import IdentifyOptions
from mechid.runs.record import Run
from mechid.tasks.diagnose import friction_candidates, friction_words
from mechid.tasks.friction import SHAPES
from mechid.tasks.stages import chosen_base, problem_of
from mechid.validation.diagnosis_record import Diagnosis

ARM = load("puma560")


def identified(seed: int, **words: Any) -> Run:
    motion = mechid.excite(ARM, random=5, starts=0)
    log = mechid.synthesise(
        ARM, motion, noise="2%", cad_error="20%", rate=50.0, periods=6, seed=seed, **words
    )
    return mechid.identify(ARM, log, cad_error="20%")


def said(run: Run) -> list[str]:
    return [word for word in run.warnings if "is not what the model says" in word]


@pytest.mark.parametrize("seed", [0, 3])
def test_hysteresis_that_friction_of_the_model_takes_up(seed: int) -> None:
    """Dahl's law where the model has Coulomb's and viscous friction."""
    (word,) = said(identified(seed, hysteresis="2%"))
    assert word.startswith("friction of q")
    assert "coulomb_friction_6" in word
    assert "viscous_friction_6" in word


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_said_of_noise(seed: int) -> None:
    assert said(identified(seed)) == []


def test_parameters_that_are_named() -> None:
    """Those of the joint that were estimated; nothing, where the model has no friction."""
    found = [Diagnosis(kind, name, 1.0, "", 5.0, "", "") for kind, name in
             (("friction", "q2"), ("offset", "q3"))]  # fmt: skip
    (word,) = friction_words(ARM, ("coulomb_friction_2", "coulomb_friction_3"), found)
    assert "friction of q2 is" in word
    assert ": coulomb_friction_2 take up" in word
    assert friction_words(ARM, ("coulomb_friction_3",), found) == ()
    assert friction_words(ARM, ("coulomb_friction_2",), found[1:]) == ()
    # A delay moves reversals.
    late = Diagnosis("delay", "", 1.0, "s", 5.0, "", "")
    assert friction_words(ARM, ("coulomb_friction_2",), [*found, late]) == ()
    assert friction_words(load("five_bar"), ("coulomb_friction_2",), found) == ()


GEAR = "elements: {gear: {type: friction, joint: A1, load: 0.08}}\n"


@pytest.mark.parametrize(
    ("name", "elements", "remedies"),
    [
        ("five_bar", "", ["try --friction auto", "try --friction auto"]),
        ("five_bar", GEAR, ["correct its coefficient", "try --friction auto"]),
        ("five_bar@distances", "", ["--friction auto can add it to coordinates of joints"] * 2),
    ],
)
def test_friction_that_grows_with_the_load(name: str, elements: str, remedies: list[str]) -> None:
    """What can be done about it depends on the coordinate, and on what the model has already."""
    model = mechid.loads(mechid.dumps(load(name)) + elements)
    motion = mechid.excite(model, random=1, starts=0)
    log = mechid.synthesise(model, motion, noise="2%", cad_error="20%", rate=50.0, seed=0)
    run = mechid.identify(model, log, cad_error="20%")
    assert run.estimate is not None
    problem = problem_of(model, chosen_base(model, IdentifyOptions()), run.motions[:1],
                         IdentifyOptions(), 1)  # fmt: skip
    found = friction_candidates(run.estimate, model, problem.regression, run.motions[:1])
    loads = [c for c in found if c.words == SHAPES["load"]]
    assert [c.channel for c in loads] == [c.name for c in model.coordinates]
    for c, remedy in zip(loads, remedies, strict=True):
        assert c.remedy.startswith(remedy)


def test_the_help_of_the_option_names_every_shape() -> None:
    (option,) = get_args(Friction)[1:]
    assert all(f"{shape}," in f"{option.help[:-1]}," for shape in SHAPES)
    assert all(f'"{shape}"' in (IdentifyOptions.__doc__ or "") for shape in SHAPES)
