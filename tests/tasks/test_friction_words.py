"""Friction of another kind than the model has, which its parameters take up: said, or not there."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import mechid
from mechid.cli.measured import Friction
from mechid.modelfile import load
from mechid.options import IdentifyOptions
from mechid.runs.record import Run
from mechid.tasks.diagnose import examined
from mechid.tasks.doubtful_friction import ADD, friction_candidates, friction_words
from mechid.tasks.friction_shapes import SHAPES
from mechid.tasks.stages import chosen_base, problem_of

from .arm import ARM, identified
from .test_friction import with_rotor


def said(run: Run) -> list[str]:
    return [word for word in run.warnings if "is not what the model says" in word]


@pytest.mark.parametrize("seed", [0, 3])
def test_hysteresis_that_friction_of_the_model_takes_up(seed: int) -> None:
    """Dahl's law where the model has Coulomb's and viscous friction."""
    (word,) = said(identified(seed, "2%", hysteresis="2%"))
    assert word.startswith("friction of q")
    assert "coulomb_friction_6" in word
    assert "viscous_friction_6" in word


def test_standard_deviations_contain_it() -> None:
    """Parameters of friction were up to 5.3 deviations off, 2.5 rms; and so in a reduced model."""
    run = identified(2, "2%", hysteresis="2%")
    small = mechid.reduce(run, size=40)
    assert run.estimate is not None
    assert run.parameters.truth is not None
    assert said(small) == said(run)
    truth = dict(zip(run.parameters.names, run.parameters.truth.tolist(), strict=True))
    for found in (run.estimate, small.final):
        assert any("contain what friction of q" in text for text in found.known)
        z = [
            (value - truth[name]) / sigma
            for name, value, sigma in zip(found.parameters, found.values, found.sigma, strict=True)
            if "friction" in name
        ]
        assert len(z) == 12
        assert np.sqrt(np.mean(np.square(z))) < 1.5


def test_least_squares_has_its_own_deviations() -> None:
    motion = mechid.excite(ARM, random=5, starts=0)
    log = mechid.synthesise(
        ARM, motion, noise="2%", hysteresis="2%", cad_error="20%", rate=50.0, periods=6, seed=2
    )
    run = mechid.identify(ARM, log, estimator="weighted", cad_error="20%")
    (word,) = said(run)
    assert word.endswith("which their standard deviations do not contain")
    assert run.estimate is not None
    assert not any("contain what friction" in text for text in run.estimate.known)


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_said_of_noise(seed: int) -> None:
    assert said(identified(seed, "2%")) == []


def test_parameters_that_are_named() -> None:
    """Those of the joint that were estimated; nothing, where the model has no friction."""
    names = ("coulomb_friction_2", "coulomb_friction_3")
    (word,) = friction_words(ARM, names, ["q2"], contained=True)
    assert "friction of q2 is" in word
    assert ": coulomb_friction_2 take up" in word
    assert word.endswith("contain as far as it was found")
    (word,) = friction_words(ARM, names, ["q2"], contained=False)
    assert word.endswith("do not contain")
    assert friction_words(ARM, names[1:], ["q2"], contained=True) == ()
    assert friction_words(ARM, names, [], contained=True) == ()
    assert friction_words(load("five_bar"), names, ["q2"], contained=True) == ()


def test_parameters_of_a_rotor_are_named() -> None:
    (word,) = friction_words(with_rotor(), ("viscous_hinge_rotor",), ["hinge"], contained=True)
    assert ": viscous_hinge_rotor take up" in word


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


def test_what_was_tried_is_not_advised() -> None:
    run = identified(0, "2%", hysteresis="2%")
    named = [d for d in run.diagnosis if d.remedy == ADD]
    assert named
    tried = replace(run.about, options=replace(run.about.options, friction=("auto",)))
    problem = problem_of(ARM, chosen_base(ARM, run.about.options), run.motions, run.about.options)
    told, _ = examined(replace(run, about=tried, diagnosis=()), problem)
    assert len(told.diagnosis) == len(run.diagnosis)
    assert not any("--friction" in d.remedy for d in told.diagnosis)
