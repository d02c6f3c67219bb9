"""No command replaces a file without --force, or reads and writes the same one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import typer

from mechid.cli.app import app
from mechid.runs.truth import find_truth, read_truth
from mechid.tables.files import write_table

if TYPE_CHECKING:
    from .conftest import Run

WRITES = {"output", "table", "plot", "view", "certificate", "latex", "picture"}


@pytest.fixture
def motion(run: Run) -> Run:
    t = np.linspace(0, 1, 30)
    y = 0.2 * np.sin(2 * np.pi * t)
    write_table("m.csv", {"time": t, "angle": y})
    write_table("log.csv", {"time": t, "angle": y, "M_hinge": 3 * y})
    return run


def test_every_command_that_writes_has_the_same_force() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    found = 0
    for name, command in commands.items():
        options = {p.name: p for p in command.params}
        if "force" in options:
            assert options["force"].is_flag, name
            assert options["force"].help.startswith("Replace "), name
        if any(p.name in WRITES and p.opts[0].startswith("-") for p in command.params):
            assert "force" in options, name
            found += 1
    assert found >= 17


@pytest.mark.parametrize(
    ("arguments", "option", "file"),
    [
        (["kinematics", "pendulum", "m.csv"], "-o", "a.csv"),
        (["measurement", "pendulum", "log.csv"], "-o", "a.csv"),
        (["excite", "pendulum", "--random", "2", "--starts", "0"], "-o", "a.yaml"),
        (["excite", "pendulum", "--random", "2", "--starts", "0"], "--table", "a.csv"),
        (["simulate", "pendulum", "--t-end", "0.1"], "-o", "a.csv"),
        (["simulate", "pendulum", "--t-end", "0.1"], "--view", "a.html"),
        (["inverse", "pendulum", "m.csv"], "-o", "a.parquet"),
        (["inverse", "pendulum", "m.csv"], "--plot", "a.svg"),
        (["synthesise", "pendulum", "m.csv"], "-o", "a.csv"),
        (["base", "pendulum"], "--latex", "a.tex"),
        (["base", "pendulum"], "--certificate", "a.json"),
        (["view", "pendulum"], "-o", "a.html"),
        (["export", "pendulum"], "-o", "a.urdf"),
        (["schema"], "-o", "a.json"),
    ],
)
def test_files_stay(motion: Run, arguments: list[str], option: str, file: str) -> None:
    Path(file).write_text("years of work")
    done = motion(*arguments, option, file)
    assert done.status == 2
    assert done.err == f"error: {file}: the file exists; add --force to replace it\n"
    assert Path(file).read_text() == "years of work"
    assert motion(*arguments, option, file, "--force").status == 0
    assert b"years of work" not in Path(file).read_bytes()
    gone = motion(*arguments, option, f"no/{file}")
    assert gone.err.startswith(f"error: no/{file}: cannot write the file: there is no such folder")


@pytest.mark.parametrize(
    "arguments",
    [
        ["measurement", "pendulum", "log.csv", "-o", "log.csv"],
        ["measurement", "pendulum", "log.csv@0:0.5", "-o", "log.csv"],
        ["kinematics", "pendulum", "m.csv", "-o", "m.csv"],
        ["inverse", "pendulum", "m.csv", "-o", "m.csv"],
        ["synthesise", "pendulum", "m.csv", "-o", "m.csv"],
        ["simulate", "pendulum", "--t-end", "1", "--drive", "m.csv", "-o", "m.csv"],
    ],
)
def test_inputs_stay(motion: Run, arguments: list[str]) -> None:
    before = Path(arguments[-1]).read_bytes()
    done = motion(*arguments, "--force")
    assert "this file is read by the same command; choose another" in done.err
    assert Path(arguments[-1]).read_bytes() == before


def test_the_truth_belongs_to_one_file(motion: Run) -> None:
    """Tables of one name with different endings have truths of their own."""
    made = ("synthesise", "pendulum", "m.csv", "--cad-error", "20%", "-o")
    assert motion(*made, "t.csv", "--seed", "1").status == 0
    assert motion(*made, "t.parquet", "--seed", "2").status == 0
    one, two = (find_truth(name) for name in ("t.csv", "t.parquet"))
    assert [str(one), str(two)] == ["t.csv.truth.json", "t.parquet.truth.json"]
    assert np.any(read_truth(one).values != read_truth(two).values)
    # As earlier versions named it: it is that of the table that it names.
    two.rename("t.truth.json")
    assert str(find_truth("t.parquet")) == "t.truth.json"
    one.unlink()
    assert find_truth("t.csv") is None


def test_the_truth_is_not_replaced_either(motion: Run) -> None:
    Path("t.csv.truth.json").write_text("{}")
    done = motion("synthesise", "pendulum", "m.csv", "-o", "t.csv")
    assert "t.csv.truth.json: the file exists" in done.err
    assert not Path("t.csv").exists()
