"""Running the tool in this process, as a shell would see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mechid.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `mechid` with arguments in an empty directory: ``run("check", "four_bar")``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    # What is printed must not depend on how fast the machine is.
    monkeypatch.setattr("mechid.cli.progress.EVERY", float("inf"))
    monkeypatch.setattr("mechid.tape.functions.TELL_AFTER", 1e6)

    def command(*arguments: str) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([*arguments])
        out, err = capsys.readouterr()
        status = left.value.code
        return Ran(status if isinstance(status, int) else 0 if status is None else 1, out, err)

    return command
