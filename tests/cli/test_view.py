"""`mechid view`: a page from a tour or from a table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mechid.tables import write_table

if TYPE_CHECKING:
    from .conftest import Run


def scene_of(path: Path) -> Any:
    found = re.search(r'id="scene">(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


def test_tour_is_the_default(run: Run, tmp_path: Path) -> None:
    done = run("view", "four_bar")
    assert done.status == 0
    assert "tour" in done.out
    assert re.search(r"^wrote four_bar.html \(\d\.\d MB\)$", done.out, re.MULTILINE)
    drawn = scene_of(tmp_path / "four_bar.html")
    assert np.ptp(drawn["motion"]["coordinates"][0]["values"]) == pytest.approx(2 * np.pi)


def test_motion_and_traces(run: Run, tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 30)
    write_table(tmp_path / "m.csv", {"time": t, "q1": 0.785 + t**2})
    done = run("view", "four_bar@example-1", "-m", "m.csv", "-o", "p.html", "-t", "bar_2.B")
    assert "note: speeds and accelerations derived with a spline" in done.out
    drawn = scene_of(tmp_path / "p.html")
    assert drawn["motion"]["coordinates"][0]["values"] == pytest.approx(0.785 + t**2)
    assert [trace["name"] for trace in drawn["traces"]] == ["bar_2.B"]


def test_a_page_that_cannot_be_written(run: Run) -> None:
    done = run("view", "four_bar", "-o", "nowhere/p.html")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "error: nowhere/p.html: cannot write the file: there is no such folder; mkdir -p nowhere\n"
    )
