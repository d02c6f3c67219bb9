"""What a shell user meets first: help, completion, signs of life, warnings of units."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mechid.cli.progress import log_to_stderr, tell_first_compilation

if TYPE_CHECKING:
    from .conftest import Run


@pytest.mark.parametrize("command", ["zoo", "check", "identify", "excite", "simulate", "base"])
def test_flags_are_shown_as_flags(run: Run, command: str) -> None:
    shown = run(command, "--help").out
    assert "bool" not in shown
    line = next(x for x in shown.splitlines() if "--json" in x)
    assert line.strip("│ ").split("  ", 1)[0] == "--json"


def test_completion_can_be_installed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--install-completion" in run("--help").out
    Path("four_legs.yaml").touch()
    Path("four_legs.txt").touch()
    Path("four_models").mkdir()
    Path(os.fsdecode(b"four_\xff.yaml")).touch()  # which no command takes
    monkeypatch.setenv("_MECHID_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_CWORD", "2")
    for words, expected in (
        ("mechid check four_b", ["four_bar"]),
        ("mechid check four", ["four_bar", "four_legs.yaml", "four_models/"]),
        ("mechid base sla", ["sla_suspension"]),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        assert run().out.split() == expected


def test_the_first_compilation_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MECHID_CACHE_DIR", str(tmp_path))
    started: list[object] = []
    monkeypatch.setattr(
        "mechid.tasks.compile_kernels.compile_elsewhere", lambda *args: started.append(args)
    )
    log_to_stderr()
    tell_first_compilation()
    line = "compiling kernels: this is done once and takes about a minute\n"
    assert capsys.readouterr().err == line
    (tmp_path / "kernel.nbc").touch()
    tell_first_compilation()
    assert capsys.readouterr().err == ""
    assert len(started) == 1  # of the first time


@pytest.fixture
def in_mm(run: Run) -> Run:
    """A four-bar linkage written in mm and read as m, with its weight in mm/s²."""
    text = run("zoo", "four_bar").out
    assert "9.81" in text
    Path("mm.yaml").write_text(text.replace("9.81", "9810"))
    return run


def test_units_that_look_wrong(in_mm: Run) -> None:
    words = "gravity is 9.81e+03 m/s², on Earth 9.81: check its unit"
    checked = in_mm("check", "mm.yaml")
    assert f"warning: {words}" in checked.out
    assert checked.err == ""
    for command in (["view", "mm.yaml"], ["export", "mm.yaml", "--to", "mjcf", "-o", "a.xml"],
                    ["excite", "mm.yaml", "--random", "2", "--starts", "0"]):  # fmt: skip
        done = in_mm(*command)
        assert done.status == 0, done.err
        assert done.err.count(f"warning: mm.yaml: {words}") == 1


@pytest.mark.slow
def test_a_full_device(tmp_path: Path) -> None:
    """What cannot be printed is one line on stderr, whether it is noticed early or at the end."""
    for words in (["zoo"], ["zoo", "four_bar"], ["check", "pendulum", "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-c", "from mechid.cli import main; main()", *words],
                stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path,
            )  # fmt: skip
        assert (done.returncode, done.stderr) == (2, "error: output: No space left on device\n")


def test_too_many_samples(run: Run) -> None:
    done = run("simulate", "pendulum", "--t-end", "1", "--rate", "1e12")
    assert done.err.startswith("error: too many samples: 1 s at 1e+12 Hz are 1e+12")


def test_huge_inputs_are_not_repeated(run: Run) -> None:
    done = run("check", "x" * 100_000)
    assert done.status == 2
    assert len(done.err) < 2000


@pytest.mark.slow
def test_first_sign_of_life_on_a_terminal() -> None:
    """Before anything heavy is loaded; help loads nothing heavy at all."""
    pty = pytest.importorskip("pty")
    program = (
        "import sys, rich.console\n"
        "before = rich.console.Console.status\n"
        "def status(self, words):\n"
        "    print(words, 'numba' in sys.modules)\n"
        "    return before(self, words)\n"
        "rich.console.Console.status = status\n"
        "from mechid.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    ours, theirs = pty.openpty()
    line = [sys.executable, "-c", program, "base", "pendulum"]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=theirs, check=True, text=True)
    os.close(theirs)
    os.close(ours)
    assert done.stdout.startswith("loading False\nmodel ")
    assert "pendulum" in done.stdout
    start = "from mechid.cli import main; main()"
    line = [sys.executable, "-X", "importtime", "-c", start, "check", "--help"]
    found = subprocess.run(line, capture_output=True, check=True, text=True)
    assert "Read a model" in found.stdout
    assert "numba" not in found.stderr
