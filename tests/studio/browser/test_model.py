"""Model: the file, the mechanism that follows it, completion, and mistakes at their lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mechid.mechanism.joint_kinds import JOINT_KINDS

if TYPE_CHECKING:
    from .conftest import OpenTab, Tab

TEXT = "ace.edit(document.querySelector('.editor')).getValue()"
REPLACE = """([old, text]) => {
  const editor = ace.edit(document.querySelector(".editor"));
  editor.setValue(editor.getValue().replace(old, text), -1);
}"""
COMPLETE = """async ([text, row, column]) => {
  const { complete } = await import("/assets/studio/schema.js");
  const schema = await (await fetch("/api/schema")).json();
  return complete(schema, text, row, column).map(({ name }) => name);
}"""


def replace(tab: Tab, old: str, text: str) -> None:
    tab.page.evaluate(REPLACE, [old, text])


@pytest.mark.slow
def test_slider_moves_the_mechanism(open_tab: OpenTab) -> None:
    tab = open_tab("model?model=linkage.yaml")
    frame = tab.viewer()
    slider = tab.page.get_by_label("q1, °")
    slider.fill("20")
    # B1 turns about A1, the origin, whose axis is y.
    angle, (x, y, z) = np.deg2rad(20), (-0.07, 0.014, 0.168)
    expected = [
        x * np.cos(angle) + z * np.sin(angle),
        y,
        -x * np.sin(angle) + z * np.cos(angle),
    ]
    place = "mechid.bodyPosition('coupler_1')"
    tab.until(lambda: np.allclose(frame.evaluate(place), expected, rtol=0, atol=1e-6))
    tab.page.get_by_role("button", name="Home pose").click()
    tab.until(lambda: np.allclose(frame.evaluate(place), (x, y, z), rtol=0, atol=1e-6))
    assert tab.errors == []


@pytest.mark.slow
def test_model_of_the_zoo_is_not_overwritten(open_tab: OpenTab, folder: Path) -> None:
    tab = open_tab()
    tab.page.get_by_role("button", name="From the zoo").click()
    tab.page.get_by_label("Search the zoo").fill("slider-crank")
    tab.page.get_by_role("button", name=re.compile("^spatial_slider_crank")).first.click()
    tab.see("valid", exact=True)
    tab.page.get_by_role("button", name="Save a copy").click()
    tab.page.get_by_label("File", exact=True).fill("copy.yaml")
    tab.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    tab.until(lambda: (folder / "copy.yaml").exists())
    tab.until(lambda: "copy.yaml" in tab.page.url)
    assert tab.errors == []


@pytest.mark.slow
def test_variant_of_the_zoo_is_opened(open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.page.get_by_role("button", name="From the zoo").click()
    tab.page.get_by_role("button", name=re.compile("^four_bar@example-2")).first.click()
    tab.see("valid", exact=True)
    assert "four_bar%40example-2" in tab.page.url
    assert tab.errors == []


@pytest.mark.slow
def test_mistake_is_marked_at_its_line(open_tab: OpenTab) -> None:
    tab = open_tab("model?model=linkage.yaml")
    tab.see("valid", exact=True)
    lines = tab.page.evaluate(TEXT).split("\n")
    row = next(k for k, line in enumerate(lines) if line.strip().startswith("A2: {type: revolute"))
    replace(tab, "A2: {type: revolute", "A2: {type: revolut")
    tab.see("not valid")
    tab.see("revolut")
    tab.page.get_by_role("button", name=f"Go to line {row + 1}").click()
    marked = tab.page.locator(".ace_gutter-cell.ace_error")
    assert tab.until(lambda: marked.count() and marked.inner_text()).strip() == str(row + 1)
    replace(tab, "A2: {type: revolut,", "A2: {type: revolute,")
    tab.see("valid", exact=True)
    assert marked.count() == 0


@pytest.mark.slow
def test_completion(open_tab: OpenTab) -> None:
    tab = open_tab()

    def complete(text: str) -> list[str]:
        rows = text.split("\n")
        found: list[str] = tab.page.evaluate(COMPLETE, [text, len(rows) - 1, len(rows[-1])])
        return found

    assert {"points", "bodies", "joints", "coordinates"} <= set(complete("mechid: 1\n"))
    assert set(complete("joints:\n  A: {type: ")) == set(JOINT_KINDS)
    assert {"type", "between", "at", "axis"} <= set(complete("joints:\n  A: {type: revolute, "))
    assert {"frame", "mass", "center"} <= set(complete("bodies:\n  rod:\n    "))
    names = complete("bodies:\n  rod: {}\n  arm: {}\njoints:\n  A: {between: [ground, ")
    assert set(names) == {"ground", "rod", "arm"}
    assert "radius" in complete("bodies:\n  rod:\n    shapes:\n      - {sphere: {")


@pytest.mark.slow
def test_two_writers(open_tab: OpenTab, folder: Path) -> None:
    """What somebody else wrote meanwhile is not overwritten."""
    file = folder / "shared.yaml"
    text = (folder / "linkage.yaml").read_text("utf-8")
    file.write_text(text, "utf-8")
    tab = open_tab("model?model=shared.yaml")
    tab.see("valid", exact=True)
    replace(tab, "mass: 0.62", "mass: 0.63")
    tab.page.get_by_role("button", name="Save").click()
    tab.until(lambda: "mass: 0.63" in file.read_text("utf-8"))
    file.write_text(text.replace("mass: 0.65", "mass: 0.66"), "utf-8")
    replace(tab, "mass: 0.63", "mass: 0.64")
    tab.page.get_by_role("button", name="Save").click()
    tab.see("changed by somebody else")
    assert "mass: 0.66" in file.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("word", ["<img src=x onerror=alert(1)>", "{{7*7}}"])
def test_names_stay_text(open_tab: OpenTab, folder: Path, word: str) -> None:
    """No string of a model becomes a part of the page."""
    text = (folder / "linkage.yaml").read_text("utf-8")
    file = folder / "hostile.yaml"
    file.write_text(re.sub("title: .*", f"title: '{word}'", text, count=1), "utf-8")
    tab = open_tab("model?model=hostile.yaml")
    tab.viewer()
    assert tab.page.locator("img[src=x]").count() == 0
    assert tab.errors == []


@pytest.mark.slow
def test_changes_survive_a_reload(open_tab: OpenTab) -> None:
    tab = open_tab("model?model=linkage.yaml")
    tab.see("valid", exact=True)
    tab.page.on("dialog", lambda dialog: dialog.accept())
    replace(tab, "mass: 0.62", "mass: 0.77")
    tab.see("linkage.yaml, changed")
    tab.page.reload()
    tab.until(lambda: tab.page.locator(".editor").count())
    assert "mass: 0.77" in tab.page.evaluate(TEXT)
