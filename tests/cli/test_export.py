"""`mechid export` as a user runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .test_report import identified

if TYPE_CHECKING:
    from .conftest import Run


def test_run(run: Run, tmp_path: Path) -> None:
    identified(run)
    ran = run("export", "folder", "--to", "urdf", "-o", "five_bar.urdf")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[-1] == "wrote five_bar.urdf"
    assert "loops are closed by <constraint> elements" in ran.out
    assert "± " in (tmp_path / "five_bar.urdf").read_text(encoding="utf-8")

    ran = run("export", "folder", "-o", "five_bar.urdf")
    assert ran.status == 2
    assert "add --force" in ran.err
    ran = run("export", "folder", "-o", "table.xlsx", "--json")
    assert ran.json["target"] == "xlsx"
    assert ran.json["output"] == ["table.xlsx"]


def test_model(run: Run) -> None:
    ran = run("export", "pendulum", "--to", "mjcf")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[1] == '<mujoco model="pendulum">'


def test_fmu(run: Run, tmp_path: Path) -> None:
    ran = run("export", "pendulum", "--fmi", "3", "--kind", "inverse", "-o", "pendulum.fmu")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines() == ["wrote pendulum.fmu"]
    assert (tmp_path / "pendulum.fmu").read_bytes()[:2] == b"PK"
    ran = run("export", "pendulum", "--to", "fmu")
    assert ran.status == 2
    assert "give a file" in ran.err
    ran = run("export", "pendulum", "--to", "fmu", "--fmi", "1", "-o", "other.fmu")
    assert ran.status == 2
    assert "choose one of: 2, 3" in ran.err


def test_what_cannot_be_held(run: Run) -> None:
    ran = run("export", "sla_suspension", "--to", "urdf")
    assert ran.status == 2
    assert "URDF cannot hold: spring or damper strut_r between points" in ran.err
    assert "--allow-loss" in ran.err
    assert len(ran.err.splitlines()) == 1
    ran = run("export", "sla_suspension", "-o", "sla.urdf", "--allow-loss")
    assert ran.status == 0, ran.err
    assert "left out: spring or damper strut_r between points" in ran.out


def test_wrong_input(run: Run) -> None:
    assert "choose one of: urdf" in run("export", "pendulum", "--to", "sdf").err
    assert "no format is given" in run("export", "pendulum").err
    assert run("export", "nothing", "--to", "urdf").status == 2
    assert "give a file" in run("export", "pendulum", "--to", "xlsx").err
    assert "cannot write" in run("export", "pendulum", "-o", "no/where.urdf").err
