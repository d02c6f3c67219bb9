"""`mechid report` as a user runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mechid.runs.folder import load_run
from mechid.tables import write_table

if TYPE_CHECKING:
    from .conftest import Run


def identified(run: Run) -> None:
    t = np.linspace(0, 1, 60)
    w = 2 * np.pi * np.array([1.0, 2.0])
    y = 0.3 * np.sin(np.outer(t, w))
    columns = {"time": t, **dict(zip(names(run), y.T, strict=True))}
    write_table(Path("motion.csv"), columns)
    ran = run("synthesise", "five_bar", "motion.csv", "--force-noise", "2%", "-o", "data.csv")
    assert ran.status == 0, ran.err
    ran = run("identify", "five_bar", "data.csv", "-o", "folder")
    assert ran.status == 0, ran.err


def names(run: Run) -> list[str]:
    return [c["name"] for c in run("check", "five_bar", "--json").json["coordinates"]]


def test_report(run: Run, tmp_path: Path) -> None:
    identified(run)
    ran = run("report", "folder")
    assert ran.status == 0, ran.err
    assert ran.out.startswith("wrote folder/report.html")
    text = (tmp_path / "folder" / "report.html").read_text(encoding="utf-8")
    assert "mechid identify five_bar data.csv -o folder" in text
    assert "not certified" in text

    ran = run("report", "folder", "--certify", "-o", "other.html")
    assert ran.status == 0, ran.err
    assert "Certified:" in (tmp_path / "other.html").read_text(encoding="utf-8")

    ran = run("report", "folder", "-o", "no/where.html")
    assert ran.status == 2
    assert ran.err.startswith("error: no/where.html")


@pytest.mark.slow
def test_comparison_and_verdict(run: Run, tmp_path: Path) -> None:
    identified(run)
    ran = run("identify", "five_bar", "data.csv", "--estimator", "ols", "-o", "plain")
    assert ran.status == 0, ran.err
    *_, trust, following, wrote, _ = ran.out.splitlines()
    assert wrote == "wrote plain"
    assert trust.startswith("trust the model (synthetic data): not known. No other motion")
    assert following.startswith("next: Measure another motion")

    ran = run("report", "folder", "--json")
    assert ran.status == 0, ran.err
    (found,) = ran.json["runs"]
    assert found["run"] == "folder"
    assert found["verdict"]["synthetic"]
    assert found["verdict"]["trust"]["answer"] == "not known"
    assert ran.json["output"] == []
    assert not (tmp_path / "folder" / "report.html").exists()

    ran = run("report", "folder", "plain", "-o", "compare.html")
    assert ran.status == 0, ran.err
    assert "folder: trust the model" in ran.out
    assert "plain: next: " in ran.out
    assert "comparison-table" in (tmp_path / "compare.html").read_text(encoding="utf-8")

    for wrong, why in (
        (("folder", "plain"), "needs a name"),
        (("folder", "plain", "--certify", "-o", "x.html"), "--certify"),
        (("folder", "folder", "-o", "x.html"), "given twice"),
        (("folder", "plain", "-o", "compare.html"), "compare.html"),
    ):
        ran = run("report", *wrong)
        assert ran.status == 2
        assert why in ran.err
        assert len(ran.err.splitlines()) == 1


@pytest.mark.slow
def test_a_run_that_was_stopped_says_so_first(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page in its head, the lines of the command, and what Python shows."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    identified(run)
    run("synthesise", "five_bar", "motion.csv", "--seed", "1", "-o", "other.csv")
    with monkeypatch.context() as patched:
        patched.setattr("mechid.tasks.identify.validated", stopped)
        ran = run("identify", "five_bar", "data.csv", "--validate", "other.csv", "-o", "part")
    assert ran.status == 130
    words = "it ended before its validation."
    ran = run("report", "part")
    assert ran.status == 0, ran.err
    *_, trust, following = ran.out.splitlines()
    assert trust == f"trust the model (synthetic data): not known. The run is not finished: {words}"
    assert following == f"next: Repeat the run: {words}"
    text = (tmp_path / "part" / "report.html").read_text(encoding="utf-8")
    head = text[text.index("<header") : text.index("</header>")]
    assert f"The run is not finished: {words}" in head
    assert "validated on" not in head
    assert load_run("part").summary()["not finished"] == words[:-1]
    assert "not finished" not in load_run("folder").summary()
    run("report", "folder", "part", "-o", "compare.html")
    assert f"The run is not finished: {words}" in (tmp_path / "compare.html").read_text("utf-8")


def test_no_run(run: Run) -> None:
    ran = run("report", "nothing")
    assert ran.status == 2
    assert len(ran.err.splitlines()) == 1
