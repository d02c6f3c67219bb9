"""`mechid import`, and robot files where commands take a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mechid.modelfile import load

if TYPE_CHECKING:
    from .conftest import Run

EXAMPLES = Path(__file__).parents[2] / "examples"
TX40, GRIPPER = EXAMPLES / "tx40" / "tx40.urdf", EXAMPLES / "mjcf" / "gripper" / "2f85.xml"


def test_urdf_becomes_a_model_file(run: Run, tmp_path: Path) -> None:
    done = run("import", str(TX40), "-o", "robot.yaml")
    assert done.status == 0
    assert "note: fixed links are merged into their parents: tool0" in done.out
    assert done.out.endswith("wrote robot.yaml\n")
    assert len(load(tmp_path / "robot.yaml").bodies) == 6
    again = run("import", str(TX40), "-o", "robot.yaml")
    assert again.status == 2
    assert "--force" in again.err


def test_what_is_left_out_is_printed(run: Run) -> None:
    done = run("import", str(GRIPPER), "--ignore-meshes")
    assert "left out: actuator: 1 general: fingers_actuator" in done.out
    assert done.out.endswith("wrote robotiq_2f85.yaml\n")


def test_json(run: Run) -> None:
    found = run("import", str(GRIPPER), "--ignore-meshes", "--json").json
    assert found["file"] == "robotiq_2f85.yaml"
    assert len(found["bodies"]) == 8
    assert found["left_out"] == [
        "contact: 6 exclude",
        "actuator: 1 general: fingers_actuator",
        "contacts of 14 geoms",
    ]


def test_options(run: Run, tmp_path: Path) -> None:
    done = run("import", str(TX40), "-o", "robot.yaml", "--base", "free", "--keep-fixed")
    assert done.status == 0
    mechanism = load(tmp_path / "robot.yaml")
    assert (len(mechanism.bodies), len(mechanism.coordinates)) == (8, 12)


def test_other_commands_take_robot_files(run: Run) -> None:
    assert run("check", str(TX40), "--json").json["dof"] == 6


def test_wrong_files_end_with_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text("<robot>", encoding="utf-8")
    done = run("import", "robot.urdf")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert done.err.startswith("error: robot.urdf:1: not valid XML")
    done = run("import", str(GRIPPER))
    assert "--ignore-meshes" in done.err
    assert run("import", "none.urdf").err == "error: there is no file none.urdf\n"


def test_a_model_file_needs_no_import(run: Run) -> None:
    Path("model.yaml").write_text("mechid: 1\n")
    ran = run("import", "model.yaml", "-o", "again.yaml")
    assert ran.status == 2
    assert "model.yaml: this is a model file already, import reads URDF and MJCF" in ran.err
    assert not Path("again.yaml").exists()
