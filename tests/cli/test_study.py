"""`mechid study`, as a user sees it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from mechid.cli.study import duration
from mechid.cli.study import study as commands
from mechid.studies.study import library

if TYPE_CHECKING:
    from .conftest import Run

TOY = str(Path(__file__).parents[1] / "studies")
TEXT = """\
title: Means
parts:
  means:
    experiment: toy
    axes: {n: [3, 5], seed: {from: 10, count: 5}}
    quick: {axes: {seed: {count: 1}}}
"""
NAMES = [c.name or c.callback.__name__ for c in commands.registered_commands if c.callback]


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    from mechid.studies import cells, registry

    monkeypatch.syspath_prepend(TOY)
    known = MappingProxyType({"toy": "toy_experiment", **registry.EXPERIMENTS})
    monkeypatch.setattr(registry, "EXPERIMENTS", known)
    monkeypatch.setattr(cells, "EXPERIMENTS", known)


@pytest.mark.parametrize("command", NAMES)
def test_every_command_explains_itself_with_an_example(command: str, run: Run) -> None:
    done = run("study", command, "--help")
    assert done.status == 0
    assert f"Example: mechid study {command}" in done.out


def test_from_plan_to_table(run: Run) -> None:
    Path("s.yaml").write_text(TEXT)
    plan = run("study", "plan", "s.yaml", "--json").json
    assert (plan["cells"], plan["parts"][0]["groups"]) == (10, 2)
    assert plan["seconds"] > 0
    assert "n 2 × seed 5" in run("study", "plan", "s.yaml", "--seconds", "0").out
    assert run("study", "run", "s.yaml", "--quick", "--workers", "0").status == 0
    assert Path("s.quick.study/means.parquet").is_file()
    done = run("study", "run", "s.yaml", "--workers", "0")
    assert (done.status, "s.study/means.parquet" in done.out) == (0, True)
    assert "refused: means: seed: 13 is refused" in done.out
    status = run("study", "status", "s.study", "--json").json
    assert status["parts"][0]["done"] == 10
    shown = run("study", "table", "s.study").out
    assert "means: 18 rows" in shown
    words = ("--rows", "n", "--columns", "force", "--value", "n_values", "--where", "seed=10,11")
    found = run("study", "table", "s.study", *words, "--json").json
    assert found["values"] == [[3, 3], [5, 5]]
    assert run("study", "table", "s.study", *words).out.splitlines()[-1].split() == ["5", "5", "5"]
    assert run("study", "table", "s.study", "-o", "t.csv").out == "wrote t.csv\n"
    assert len(Path("t.csv").read_text().splitlines()) == 19
    assert "add --force" in run("study", "table", "s.study", "-o", "t.csv").err
    words = ("--x", "n", "--y", "value", "--by", "force", "--band", "p10,p90", "-o", "f.svg")
    assert run("study", "plot", "s.study", *words).out == "wrote f.svg\n"
    compared = run("study", "compare", "s.quick.study", "s.study", "--json").json
    assert compared["parts"][0]["only_first"] == 2
    assert run("study", "compare", "s.quick.study", "s.study").status == 0
    Path("s.md.j2").write_text("{{ count() }}")
    assert run("study", "page", "s.yaml", "s.study", "-o", "p.md").out == "wrote p.md\n"


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "nowhere.yaml"),
        ("run", "nowhere"),
        ("status", "."),
        ("table", "nowhere.study"),
        ("compare", "nowhere.study", "nothing.study"),
        ("page", "nowhere", "x", "-o", "y.md"),
        ("plot", "nowhere.study", "--x", "a", "--y", "b", "-o", "c.docx"),
        ("run", "s.yaml", "--workers", "1", "--scheduler", "tcp://x:1"),
        ("run", "s.yaml", "--jobqueue", "none.yaml"),
    ],
)
def test_wrong_input_is_one_line(words: tuple[str, ...], run: Run) -> None:
    Path("s.yaml").write_text(TEXT)
    done = run("study", *words)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("error: ")


def test_list_and_schema(run: Run) -> None:
    titles = {row["name"]: row["title"] for row in run("study", "list", "--json").json}
    assert set(titles) == set(library())
    assert all(titles.values())
    assert run("study", "list").status == 0
    assert run("schema", "study").json["title"] == "mechid study file"


def test_experiments_and_their_settings(run: Run) -> None:
    found = {row["name"]: row["title"] for row in run("study", "experiments", "--json").json}
    assert found["toy"] == "What one cell draws."
    assert "toy" in run("study", "experiments").out
    settings = {row["name"]: row for row in run("study", "experiments", "toy", "--json").json}
    assert settings["n"] == {"name": "n", "default": "3", "meaning": "Numbers of a mean."}
    assert settings["law"]["meaning"] == settings["model"]["meaning"] == "Whatever is asked for."
    assert run("study", "experiments", "nothing").status == 2


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(run: Run) -> None:
    Path("s.yaml").write_text(TEXT.replace("axes:", "settings: {seconds: 0.2}\n    axes:", 1))
    code = (
        f"import sys; sys.path.insert(0, {TOY!r})\n"
        "from mechid.studies import cells, registry\n"
        "registry.EXPERIMENTS = cells.EXPERIMENTS = {'toy': 'toy_experiment'}\n"
        "from mechid.cli import main\n"
        "main(['study', 'run', 's.yaml', '--workers', '0'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    while not list(Path().glob("s.study/.token*")) and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "of 10 cells; what is done is kept: run the study again to go on" in told
    assert run("study", "status", "s.study", "--json").json["parts"][0]["done"] > 0
    done = run("study", "run", "s.yaml", "--workers", "0")
    assert done.status == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0021, "2.1 ms"), (3.04, "3 s"), (119, "119 s"), (600, "10 min"), (36000, "10 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
