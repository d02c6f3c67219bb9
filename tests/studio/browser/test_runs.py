"""Runs: listed, side by side, and their reports in the colours of the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mechid

if TYPE_CHECKING:
    from .conftest import OpenTab


@pytest.fixture
def runs(folder: Path) -> dict[str, mechid.Run]:
    """Two runs of the same log, by name."""
    made = {}
    for name, method in (("first", "map"), ("second", "ols")):
        model, log = folder / "linkage.yaml", folder / "named.csv"
        made[name] = mechid.identify(model, log, estimator=method)
        mechid.save_run(made[name], folder / name, force=True)
    return made


def test_runs(open_tab: OpenTab, runs: dict[str, mechid.Run]) -> None:
    tab = open_tab("identify?model=linkage.yaml", scheme="dark")
    page = tab.page
    for name in runs:
        page.get_by_label(f"compare {name}").check()
    page.get_by_role("button", name="Compare").click()
    dialog = page.get_by_role("dialog")
    first = runs["first"]
    assert first.estimate is not None
    row = dialog.get_by_role("row").filter(has_text=first.estimate.parameters[0])
    row.first.wait_for()
    cells = row.first.get_by_role("cell").all_inner_texts()
    for run, cell in zip(runs.values(), cells[-2:], strict=True):
        assert run.estimate is not None
        shown = float(cell.split(" ± ")[0].replace("\u2212", "-"))
        assert shown == pytest.approx(run.estimate.values[0], rel=1e-3)
    page.keyboard.press("Escape")

    page.get_by_role("region", name="Runs").get_by_role("button", name="first").click()
    paper = "e => getComputedStyle(document.documentElement).backgroundColor"
    heading = page.frame_locator("iframe.report").get_by_role("heading", level=1)
    dark = heading.evaluate(paper)
    page.get_by_label("Light or dark").click()
    tab.until(lambda: heading.evaluate(paper) != dark)
    assert tab.errors == []
