"""The demonstration goes through the whole method and says where the report is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechid import demo
from mechid.runs.folder import load_run
from mechid.runs.record import STAGES


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # What an earlier demonstration left is replaced.
    (tmp_path / "demo" / "run").mkdir(parents=True)
    (tmp_path / "demo" / "run" / "run.json").write_text("{}", encoding="utf-8")
    demo.main(tmp_path / "demo", "five_bar")
    text = capsys.readouterr().out
    page = tmp_path / "demo" / "report.html"
    assert text.splitlines()[-1].endswith(page.as_uri())
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    run = load_run(tmp_path / "demo" / "run")
    assert run.stages == STAGES
    assert run.reduction is not None
    assert run.parameters.truth is not None
    errors = {(row.motion, row.model): row.total for row in run.validation}
    assert errors["validation-1", "reduced"] < errors["validation-1", "cad"]
