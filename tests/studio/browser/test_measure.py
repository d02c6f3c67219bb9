"""Measure: channels are mapped by pointing, and complaints come before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from .conftest import OpenTab

CHANNELS = {"q1": "left", "q2": "right", "M1": "cell_1", "M2": "cell_2"}


@pytest.mark.slow
def test_mapping(open_tab: OpenTab, folder: Path) -> None:
    tab = open_tab("measure?model=linkage.yaml&log=rig.csv")
    for quantity, channel in CHANNELS.items():
        tab.page.get_by_label(f"channel of {quantity}").wait_for()
        tab.page.get_by_role("rowheader", name=quantity).click()
        tab.page.locator(f'[data-channel="{channel}"]').click()
    tab.see("can be used", exact=True)
    assert tab.page.locator(".plots canvas").count() == len(CHANNELS)

    tab.page.get_by_label("unit of M2").fill("mm")
    tab.page.get_by_label("unit of M2").press("Tab")
    tab.see("cannot be used", exact=True)
    tab.see("does not match a quantity")
    tab.page.get_by_label("unit of M2").fill("")
    tab.page.get_by_label("sign of M2").select_option("-1")
    tab.page.get_by_label("delay of M1").fill("0.004")
    tab.page.get_by_label("delay of M1").press("Tab")
    tab.see("can be used", exact=True)
    tab.page.get_by_role("button", name="Save the mapping").click()
    saved = tab.until(lambda: (folder / "rig.map.yaml").exists() and folder / "rig.map.yaml")
    assert yaml.safe_load(saved.read_text("utf-8")) == {
        "measurement": 1,
        "time": {"channel": "clock"},
        "positions": {"q1": {"channel": "left"}, "q2": {"channel": "right"}},
        "forces": {
            "M1": {"channel": "cell_1", "delay": 0.004},
            "M2": {"channel": "cell_2", "sign": -1},
        },
    }

    tab.page.reload()  # what was saved is there again
    tab.page.get_by_label("sign of M2").wait_for()
    assert tab.page.get_by_label("sign of M2").input_value() == "-1"
    saved.unlink()
    assert tab.errors == []


@pytest.mark.slow
def test_log_that_is_none(open_tab: OpenTab, folder: Path) -> None:
    (folder / "broken.mat").write_bytes(b"this is no MATLAB file")
    tab = open_tab("measure?model=linkage.yaml")
    tab.page.get_by_role("button", name="Read the folder again").click()
    tab.page.get_by_role("button", name="broken.mat").click()
    tab.page.locator(".said .bad").wait_for()
