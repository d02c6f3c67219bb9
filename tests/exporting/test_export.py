"""Exports of a run: the same forces, base parameters and values in every format."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.exporting.targets import TARGETS
from mechid.kinematics.model import kinematic_model
from mechid.runs.record import Run
from mechid.tasks.export import content_of
from mechid.tasks.stages import base_of

from ..contract.states import random_course, solve_course
from .test_mjcf import check_mujoco
from .test_urdf import check_pinocchio


@pytest.mark.slow
@pytest.mark.parametrize("which", ["run", "reduced"])
def test_exported_values_have_the_base_parameters(
    which: str, request: pytest.FixtureRequest
) -> None:
    run: Run = request.getfixturevalue(which)
    mechanism = mechid.loads(mechid.export(run, "model").text)
    chosen = mechid.base_set(base_of(mechanism).null_space, run.parameters.dependent)
    found = chosen.values(cad_parameters(dynamic_model(mechanism)))
    assert run.full is not None
    if not run.full.missed:
        assert found == pytest.approx(run.values(), rel=1e-6, abs=1e-9)
    all_values = cad_parameters(dynamic_model(mechanism))
    assert all_values == pytest.approx(run.full.values, rel=1e-9, abs=1e-12)


def test_other_engines_predict_the_identified_forces(run: Run) -> None:
    """MuJoCo and Pinocchio with the exported files, and `predict` of the run."""
    content = content_of(run)
    model = kinematic_model(content.mechanism)
    motion = solve_course(
        model, random_course(model, np.random.default_rng(1)), np.linspace(0, 2, 3)
    )
    check_mujoco(motion)
    check_pinocchio(motion)
    told = mechid.predict(run, motion)
    found = mechid.inverse_dynamics(motion).tau
    offset = 0.0 if run.final.errors is None else run.final.errors.offset
    assert found + offset == pytest.approx(told.predicted, rel=1e-6, abs=1e-6)


def test_comments_say_how_certain_values_are(run: Run) -> None:
    for name in ("urdf", "mjcf"):
        text = mechid.export(run, name).text
        assert "base parameters identified" in text
        assert text.count("mass ") >= len(run.mechanism.bodies)
        assert " ± " in text
        assert "(CAD)" in text


def test_reduced_model_says_so(reduced: Run) -> None:
    text = mechid.export(reduced, "mjcf").text
    assert "reduced model: 6 of 11 base parameters" in text
    mujoco.MjModel.from_xml_string(text)


def test_target_by_the_suffix_of_the_file(tmp_path: Path) -> None:
    for name, target in TARGETS.items():
        path = tmp_path / f"pendulum{target.suffix}"
        assert mechid.export("pendulum", path=path).target == name
        assert path.read_bytes() == mechid.export("pendulum", name).data
    with pytest.raises(mechid.DataError, match="choose one of: urdf, mjcf"):
        mechid.export("pendulum", path=tmp_path / "pendulum.txt")
    with pytest.raises(mechid.DataError, match="the file exists"):
        mechid.export("pendulum", path=tmp_path / "pendulum.urdf")


def test_names_are_escaped() -> None:
    """Whatever a name contains, the file can be read."""
    text = mechid.dumps(mechid.load("pendulum")).replace("hinge", "a--b")
    mechanism = mechid.loads(text)
    for name in ("urdf", "mjcf"):
        ElementTree.fromstring(mechid.export(mechanism, name).text)


def test_model_without_values_is_rejected() -> None:
    text = mechid.dumps(mechid.load("pendulum"))
    start, end = text.index("    mass:"), text.index("joints:")
    mechanism = mechid.loads(text[:start] + text[end:])
    with pytest.raises(mechid.ModelError, match="no values of"):
        mechid.export(mechanism, "urdf")
