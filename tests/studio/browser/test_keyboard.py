"""Each way with the keyboard only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import OpenTab

TEXT = "ace.edit(document.querySelector('.editor')).getValue()"


@pytest.mark.slow
def test_model(open_tab: OpenTab, folder: Path) -> None:
    tab = open_tab()
    keys = tab.page.keyboard
    tab.tab_to("From the zoo")
    keys.press("Enter")
    tab.page.get_by_label("Search the zoo").wait_for()
    keys.type("four_bar")
    tab.tab_to("four_bar")
    keys.press("Enter")
    tab.viewer()
    tab.page.get_by_label("Model file zoo:four_bar; press Enter").wait_for()
    tab.tab_to("Model file zoo:four_bar; press Enter")
    keys.press("Enter")
    keys.press("Control+Home")
    keys.type("# mine")
    tab.page.wait_for_timeout(1000)  # a comment is not completed, or Enter would take a proposal
    keys.press("Enter")
    assert tab.page.evaluate(TEXT).startswith("# mine\n")
    keys.press("Escape")
    before = tab.page.locator(".slider output").first.inner_text()
    tab.tab_to(tab.page.locator(".slider input").first.get_attribute("aria-label") or "")
    keys.press("ArrowRight")
    tab.until(lambda: tab.page.locator(".slider output").first.inner_text() != before)
    assert tab.errors == []


@pytest.mark.slow
def test_measure(open_tab: OpenTab, folder: Path) -> None:
    tab = open_tab("model?model=linkage.yaml")
    keys = tab.page.keyboard
    keys.press("Alt+2")
    tab.page.get_by_role("heading", name="Measure").wait_for()
    tab.tab_to("Log")
    keys.type("rig")  # chooses from the list
    tab.page.get_by_label("channel of q1").wait_for()
    for quantity, channel in (("q1", "left"), ("q2", "right")):
        tab.tab_to(f"channel of {quantity}")
        keys.type(channel)
    tab.see("can be used", exact=True)
    tab.tab_to("left")  # pointing at a channel works with Enter too
    keys.press("Enter")
    assert tab.errors == []


@pytest.mark.slow
def test_excite_and_jobs(open_tab: OpenTab) -> None:
    tab = open_tab("model?model=linkage.yaml")
    keys = tab.page.keyboard
    keys.press("Alt+3")
    tab.page.get_by_label("speed of q1").wait_for()
    tab.tab_to("Search a motion")
    keys.press("Enter")
    tab.see("running")
    tab.tab_to("Stop")
    keys.press("Enter")
    keys.press("Alt+5")
    tab.page.get_by_role("button", name="Motion for linkage").first.wait_for()
    tab.tab_to("Motion for linkage")
    keys.press("Enter")
    tab.see("The same on the command line")
    tab.until(lambda: tab.page.locator(".job .chip.running").count() == 0)
    assert tab.errors == []


@pytest.mark.slow
def test_identify(open_tab: OpenTab, folder: Path) -> None:
    tab = open_tab("model?model=linkage.yaml")
    keys = tab.page.keyboard
    keys.press("Alt+4")
    tab.page.get_by_label("use of named.csv").wait_for()
    tab.tab_to("use of named.csv")
    keys.type("id")
    tab.tab_to("Folder")
    keys.press("Control+a")
    keys.type("by-keyboard")
    tab.tab_to("Identify")  # the way in the rail
    tab.tab_to("Identify")  # the button
    keys.press("Enter")
    tab.page.frame_locator("iframe.report").get_by_role("heading", level=1).wait_for()
    assert (folder / "by-keyboard" / "run.json").exists()
    tab.tab_to("Export")
    keys.press("Enter")
    tab.page.get_by_role("dialog").wait_for()
    keys.press("Escape")
    assert tab.page.get_by_role("dialog").count() == 0
    assert tab.errors == []
