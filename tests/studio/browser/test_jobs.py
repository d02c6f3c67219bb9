"""Excite and Jobs: a search that is watched, stopped and found again in another tab."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from .conftest import picture

if TYPE_CHECKING:
    from .conftest import OpenTab


def send(folder: Path, number: signal.Signals) -> None:
    """Send a signal to the command of the newest job."""
    found = (folder / ".mechid-studio" / "jobs").glob("*/process.json")
    newest = max(found, key=lambda path: path.stat().st_mtime)
    os.killpg(json.loads(newest.read_text("utf-8"))["command"], number)


@pytest.mark.slow
def test_search_is_watched_and_stopped(open_tab: OpenTab, folder: Path) -> None:
    tab = open_tab("excite?model=linkage.yaml")
    page = tab.page
    page.get_by_label("Search for").fill("300")
    page.get_by_label("speed of q1").fill("4")
    page.get_by_role("button", name="Search a motion").click()
    page.locator(".best canvas").wait_for()
    send(folder, signal.SIGSTOP)  # however fast the machine, it is not done before it is stopped
    picture(tab, "excite")
    limits = yaml.safe_load((folder / "linkage-limits.yaml").read_text("utf-8"))
    assert limits["speed"]["q1"] == 4

    other = open_tab("jobs", beside=tab)
    other.page.get_by_role("button", name="Motion for linkage").first.click()
    other.see("running")
    page.reload()  # the job goes on
    page.get_by_role("button", name="Stop").click()
    send(folder, signal.SIGCONT)
    tab.viewer()
    other.see("done", exact=True)
    with page.expect_download() as download:
        page.get_by_role("link", name="linkage-motion.csv").click()
    names = download.value.path().read_text("utf-8").splitlines()[0]
    assert "q1" in names
    assert yaml.safe_load((folder / "linkage-motion.yaml").read_text("utf-8"))["trajectory"] == 1
    assert tab.errors == other.errors == []


@pytest.mark.slow
def test_a_job_that_fails_says_why(open_tab: OpenTab, folder: Path) -> None:
    (folder / "short.csv").write_text("time,q1\n0,0\n0.1,0.1\n0.2,0.2\n", "utf-8")
    tab = open_tab("identify?model=linkage.yaml&log=short.csv")
    tab.page.get_by_label("use of short.csv").wait_for()
    tab.page.get_by_role("button", name="Identify", exact=True).click()
    tab.see("failed", exact=True)
    tab.see("error: short.csv")
    assert tab.errors == []
