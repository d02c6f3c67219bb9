"""The tool as a whole: help, version, errors, exit codes, quick to start."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mechid
from mechid.cli import main
from mechid.cli.app import COMMANDS as KNOWN
from mechid.runs.folder import load_run

if TYPE_CHECKING:
    from .conftest import Run

COMMANDS = [name for name, example in KNOWN.items() if example]  # the others are groups


def test_help_lists_every_command(run: Run) -> None:
    done = run("--help")
    assert done.status == 0
    assert all(command in done.out for command in COMMANDS)
    assert "Example" in done.out
    assert {"zoo", "check", "view", "kinematics", "schema"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_explains_itself_with_an_example(command: str, option: str, run: Run) -> None:
    done = run(command, option)
    assert done.status == 0
    assert f"Example: mechid {command}" in done.out


def test_version(run: Run) -> None:
    done = run("--version")
    assert (done.status, done.out) == (0, f"mechid {mechid.__version__}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "four_baar"),
        ("check", "nowhere.yaml"),
        ("check", "four_bar@nothing"),
        ("zoo", "four_baar"),
        ("view", "four_bar", "--trace", "bar_1.Q"),
        ("view", "four_bar", "--motion", "nowhere.csv"),
        ("kinematics", "four_bar", "nowhere.csv"),
        ("kinematics", "four_bar", "nowhere.csv", "--json"),
    ],
)
def test_wrong_input_is_one_line_on_stderr(arguments: tuple[str, ...], run: Run) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "arguments", [("nothing",), ("check",), ("check", "--nothing", "four_bar"), ()]
)
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...], run: Run) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert "Usage: mechid" in done.err + done.out


WORDS = ("check ?", "?", "--?", "zoo four_bar -o ?.yaml", "excite pendulum --seed ?",
         "excite pendulum --fix q1=?", "view pendulum -o ?.html", "kinematics four_bar ?.csv",
         "identify pendulum ? -o run", "study run ?", "studio ?", "schema --output=?")  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_arguments_that_are_no_text_are_refused(words: str, run: Run, tmp_path: Path) -> None:
    done = run(*words.replace("?", os.fsdecode(b"a\xff")).split())
    assert (done.status, done.out) == (2, "")
    wrong = next(word for word in words.split() if "?" in word).replace(
        "?", "a\N{REPLACEMENT CHARACTER}"
    )
    remedy = "rename the file, or correct it"
    assert done.err == f"error: {wrong}: the argument is not UTF-8 text; {remedy}\n"
    assert list(tmp_path.iterdir()) == []


def test_bytes_of_a_shell_that_are_no_text_are_refused(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "from mechid.cli import main; main()", "check", b"\xff.yaml"]
    done = subprocess.run(words, capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert b"the argument is not UTF-8 text" in done.stderr


@pytest.mark.slow
def test_work_in_a_folder_whose_name_is_no_text(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow cannot open files there, the system can."""
    folder = tmp_path / os.fsdecode(b"a\xff")
    folder.mkdir()
    monkeypatch.chdir(folder)
    study = "experiment: identification\nsettings: {model: pendulum}\naxes: {seed: [1]}"
    Path("s.yaml").write_text(study)
    for words in (
        "excite pendulum --random 2 --starts 0 --harmonics 2 -o motion.yaml",
        "synthesise pendulum motion.yaml --noise 2% --rate 50 -o log.parquet",
        "identify pendulum log.parquet -o run",
        "predict run motion.yaml -o forces.parquet",
        "report run",
        "study run s.yaml --workers 0 -o out",
        "study table out -o table.parquet",
    ):
        done = run(*words.split())
        assert done.status == 0, done.err
        assert Path(words.split()[-1]).exists()
    assert len(load_run(folder / "run").motions[0].time) > 0


def test_mistakes_of_the_program_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("mechid.modelfile.zoo", broken)
    with pytest.raises(ZeroDivisionError):
        main(["zoo"])


def test_an_interrupted_command_ends_with_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mechid.modelfile.zoo", interrupted)
    done = run("zoo")
    assert done.status == 130
    assert "Traceback" not in done.err


def test_help_loads_no_numerics() -> None:
    code = (
        "import sys, mechid\n"
        "from mechid.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'scipy', 'pyarrow', 'pydantic', 'yaml'}\n"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert time.perf_counter() - begin < 5.0  # about 0.3 s on a machine with nothing else to do


def test_a_reader_that_leaves_early_does_no_harm() -> None:
    code = "from mechid.cli import main; main(['schema'])"
    command = f'"{sys.executable}" -c "{code}" | head -1'
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


def test_public_names_are_there_and_lazy() -> None:
    for name in mechid.__all__:
        assert getattr(mechid, name) is not None
        assert name in dir(mechid)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mechid.nothing
    code = "import sys, mechid; sys.exit(int('numpy' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
