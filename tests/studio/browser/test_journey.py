"""From a spreadsheet of hardpoints and two logs to a report and a model, as the tutorial tells it.

With MECHID_PICTURES set, the pictures of the tutorial are written to docs/img.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mechid

from .conftest import ROOT, picture, serving

if TYPE_CHECKING:
    from .conftest import OpenTab, Tab

PAGE = ROOT / "docs/tutorials/studio.md"
CHANNELS = {
    "travel": "Travel",
    "rack": "Rack",
    "spin": "Angle",
    "F_wheel": "Actuator",
    "F_rack": "Rack force",
    "M_wheel": "Torque",
}


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the tutorial begins with, made by its own example."""
    place = tmp_path / "given"
    place.mkdir()
    monkeypatch.chdir(place)
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), {})
    return place


def drop(tab: Tab, zone: str, file: Path) -> None:
    with tab.page.expect_file_chooser() as chooser:
        tab.page.get_by_role("button", name=zone).click()
    chooser.value.set_files(file)


def map_channels(tab: Tab) -> None:
    for quantity, channel in CHANNELS.items():
        tab.page.get_by_role("rowheader", name=re.compile(rf"^{quantity}\b")).click()
        tab.page.locator(f'[data-channel="{channel}"]').click()


@pytest.mark.slow
def test_journey(open_tab: OpenTab, tmp_path: Path, given: Path) -> None:
    folder = tmp_path / "my_car"
    folder.mkdir()
    with serving(folder) as address:
        tab = open_tab(address=address)
        page = tab.page

        page.get_by_role("button", name="From hardpoints").click()
        page.get_by_role("button", name="macpherson").click()
        tab.see("wheel_centre")
        picture(tab, "hardpoints")
        drop(tab, "Drop your spreadsheet", given / "hardpoints.xlsx")
        tab.see("Points and masses come from")
        page.get_by_role("button", name="Make the model").click()
        tab.viewer()
        tab.see("can be identified")
        page.get_by_label("travel, mm").focus()
        for _ in range(12):
            page.keyboard.press("ArrowRight")
        picture(tab, "model")
        model = mechid.load(folder / "macpherson.yaml")
        assert model.coordinates[0].name == "travel"

        page.get_by_role("link", name="Measure").click()
        drop(tab, "Drop a log", given / "rig.csv")
        map_channels(tab)
        tab.see("cannot be used", exact=True)
        picture(tab, "refused")
        page.get_by_label("offset of travel").fill("311")
        page.keyboard.press("Tab")
        tab.see("can be used", exact=True)
        picture(tab, "measure")
        page.get_by_role("button", name="Save the mapping").click()
        tab.see("Saved rig.map.yaml")

        page.get_by_role("link", name="Identify").click()
        drop(tab, "Drop a log", given / "check.csv")
        map_channels(tab)
        page.get_by_label("offset of travel").fill("311")
        page.keyboard.press("Tab")
        tab.see("can be used", exact=True)
        page.get_by_role("button", name="Identify with it").click()
        page.get_by_label("use of rig.csv").select_option("identify")
        page.get_by_label("use of check.csv").select_option("validate")
        page.get_by_role("button", name="Identify", exact=True).click()
        tab.see("running")
        page.evaluate("document.getElementById('notices').replaceChildren()")
        picture(tab, "identify")
        page.locator("iframe.report").wait_for()
        report = page.frame_locator("iframe.report")
        report.get_by_role("heading", level=1).wait_for()
        picture(tab, "report")

        page.get_by_role("button", name="Export").click()
        page.get_by_role("dialog").get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download").click()
        picture(tab, "export")
        exported = mechid.load(download.value.path().rename(tmp_path / "exported.yaml"))

        assert tab.errors == []
        assert tab.hosts == {address.split("/")[2]}

    # The truth is in the tutorial: a stiffness of 20 900 N/m and a damping of 1 410 N s/m.
    run = mechid.load_run(folder / "macpherson-run")
    assert run.estimate is not None
    found = dict(zip(run.estimate.parameters, run.estimate.values, strict=True))
    for name, truth, cad in (("k_strut", 20900, 22500), ("c_strut", 1410, 1650)):
        assert abs(found[name] - truth) < 0.2 * abs(cad - truth)
    assert {body.name for body in exported.bodies} == {body.name for body in model.bodies}
