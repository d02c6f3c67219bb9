"""The demonstration goes through the whole method and says where the report is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid import demo
from mechid.runs.folder import load_run
from mechid.runs.record import STAGES


@pytest.mark.slow
def test_a_rod_that_is_off_in_two_directions(tmp_path: Path) -> None:
    """In the suspension of the demonstration: its moments err by products of CAD errors."""
    motion = mechid.excite(demo.MODEL, random=60, starts=0, seed=demo.SEED)
    log = mechid.synthesise(
        demo.MODEL,
        motion,
        noise=demo.NOISE,
        cad_error=demo.CAD_ERROR,
        seed=demo.SEED,
        rate=demo.RATE,
        periods=demo.PERIODS,
    )
    mechid.save_measurement(log, tmp_path / "log.parquet")
    run = mechid.identify(demo.MODEL, tmp_path / "log.parquet", cad_error=demo.CAD_ERROR)
    assert run.parameters.truth is not None
    z = (run.final.values - run.parameters.truth) / run.final.sigma
    assert len(z) == 83
    assert np.max(np.abs(z)) < 4
    assert np.mean(np.abs(z) < 1.959964) > 0.9


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
