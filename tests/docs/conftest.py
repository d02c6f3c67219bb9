"""Runs the examples of a documentation page, in order, in one place.

The rules for authors are in CONTRIBUTING.md, "Examples in the documentation".
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from . import loaded

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
LANGUAGE = re.compile(r"[\w+-]+")
SKIP = re.compile(r"^<!--\s*not executed\b.*-->$")
EXIT = re.compile(r"(?:^|\s)#\s*exit\s+(\d+)\s*$")
SHELL = re.compile(r"[|<>;&$`*\\\n]")  # what only a shell understands
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1", "TERM": "dumb"}
TIMEOUT = 600
EXAMPLES = Path(__file__).parents[2] / "examples"
Shell: TypeAlias = Callable[[str, Path], tuple[int, str]]


class ExampleError(AssertionError):
    """An example does not do what its page says."""


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is the number of its first line of text, counted from 1."""

    language: str
    text: str
    line: int
    skipped: bool


@dataclass
class Command:
    """One `$` line of a console block and the lines of output that stand below it."""

    text: str
    line: int
    status: int
    output: list[str]


def blocks_of(page: str) -> Iterator[Block]:
    """Find the fenced blocks of a page; a fence inside a longer fence is text."""
    lines = page.splitlines()
    above = ""
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if not opening:
            above = lines[number].strip() or above
            number += 1
            continue
        fence = opening["fence"]
        closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        end = start = number + 1
        while end < len(lines) and not closing.match(lines[end]):
            end += 1
        language = LANGUAGE.search(opening["info"])
        yield Block(
            language=language[0].lower() if language else "",
            text=textwrap.dedent("\n".join(lines[start:end])),
            line=start + 1,
            skipped=SKIP.match(above) is not None,
        )
        above = ""
        number = end + 1


def commands_of(block: Block) -> list[Command]:
    """Split a console block into commands, each with the output that it announces."""
    commands: list[Command] = []
    continued = False
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if continued:
            commands[-1].text += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            commands.append(Command(line[2:], number, status=0, output=[]))
        elif not commands:
            if line.strip() and not line.startswith("#"):
                raise ExampleError(f"line {number}: output without a command above it")
            continue
        elif not EXIT.match(line):
            commands[-1].output.append(line)
            continue
        if status := EXIT.search(line):
            commands[-1].status = int(status[1])
        continued = commands[-1].text.endswith("\\")
    return commands


def missing_line(expected: list[str], actual: list[str]) -> str | None:
    """Return the first expected line that does not follow, in order, in the actual lines.

    `...` stands for anything: alone for any number of lines, inside a line for a part of it.
    """
    remaining = iter([line.strip() for line in actual])
    for line in expected:
        text = line.strip()
        if text in ("", "..."):
            continue
        pattern = re.compile(".*".join(map(re.escape, text.split("..."))))
        if not any(pattern.fullmatch(found) for found in remaining):
            return text
    return None


def in_a_shell(text: str, directory: Path) -> tuple[int, str]:
    """Run a command in a shell; return its status and its output."""
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        text,
        shell=True,
        cwd=directory,
        env=os.environ | TERMINAL | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="session")
def forked() -> Iterator[Shell]:
    """Return what runs a command in a process that has loaded everything; pipes go to a shell."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([loaded.__name__])
    # The server keeps the environment that it is started in.
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as place:
        for name, value in (TERMINAL | {loaded.SERVER: "1"}).items():
            patch.setenv(name, value)
        server.Process(target=os.getpid).start()

        def run(text: str, directory: Path) -> tuple[int, str]:
            if SHELL.search(text := text.replace("\\\n", " ")):
                return in_a_shell(text, directory)
            output = Path(place) / "output"
            argv = shlex.split(text, comments=True)[1:]
            process = server.Process(target=loaded.run, args=(argv, directory, output))
            process.start()
            process.join(TIMEOUT)
            if process.exitcode is None:
                process.kill()
                raise ExampleError(f"$ {text}\ntakes more than {TIMEOUT} s")
            return process.exitcode, output.read_text("utf-8")

        yield run


def run_command(command: Command, directory: Path, shell: Shell) -> None:
    """Run one command and compare its status and its output with the page."""
    status, output = shell(command.text, directory)
    where = f"line {command.line}: $ {command.text}"
    if status != command.status:
        raise ExampleError(
            f"{where}\nexit status must be {command.status}, got {status}:\n{output}"
        )
    missing = missing_line(command.output, output.splitlines())
    if missing is not None:
        raise ExampleError(
            f"{where}\nthe output has no such line (in this order):\n{missing}\n"
            f"the whole output:\n{output}"
        )


@pytest.fixture
def run_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a function (text, name, shell) that runs a page and returns how many examples."""
    (tmp_path / "examples").symlink_to(EXAMPLES)

    def run(text: str, name: str = "page.md", shell: Shell = in_a_shell) -> int:
        module = types.ModuleType("documentation_page")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.chdir(tmp_path)
        count = 0
        for block in blocks_of(text):
            if block.skipped:
                continue
            if block.language == "python":
                # Empty lines in front, so that a traceback shows the line of the page.
                source = "\n" * (block.line - 1) + block.text
                exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)
                count += 1
            elif block.language == "console":
                for command in commands_of(block):
                    if re.match(r"mechid\b", command.text):
                        run_command(command, tmp_path, shell)
                        count += 1
        return count

    return run
