"""The page in a browser: drawn, quiet, without a network, and the charts zoom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mechid.report import write_report
from mechid.runs.record import Run

if TYPE_CHECKING:
    from ..conftest import OpenedPage, OpenPage

INK = """(canvas) => {
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  let ink = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ink += 1;
  return ink / (width * height);
}"""
SPAN = "(k) => { const x = mechidReport.charts[k].scales.x; return [x.min, x.max]; }"


@pytest.fixture(scope="session")
def path(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(run, tmp_path_factory.mktemp("report") / "report.html")


def settled(opened: OpenedPage) -> None:
    opened.page.wait_for_function("window.mechidReport !== undefined")


def test_quiet_without_network(open_page: OpenPage, path: Path) -> None:
    opened = open_page(path, strict=True)
    opened.page.locator("iframe.viewer").scroll_into_view_if_needed()
    opened.page.wait_for_timeout(500)
    assert opened.errors == []
    assert opened.requests == [path.resolve().as_uri()]


def test_mechanism_is_drawn(open_page: OpenPage, path: Path) -> None:
    opened = open_page(path)
    opened.page.locator("iframe.viewer").scroll_into_view_if_needed()
    (frame,) = [f for f in opened.page.frames if f.parent_frame is not None]
    frame.wait_for_function("window.mechid?.ready")
    frame.evaluate("mechid.seek(0.5)")
    assert frame.evaluate("mechid.frame()") > 0
    # The buffer of WebGL is only there until the picture is shown: draw and look in one go.
    ink = frame.evaluate(
        f"() => {{ mechid.seek(0.2); return ({INK})(document.getElementById('canvas')); }}"
    )
    assert ink > 0.01
    assert opened.errors == []


def test_charts_are_drawn(open_page: OpenPage, path: Path, run: Run) -> None:
    opened = open_page(path)
    settled(opened)
    charts = opened.page.locator("figure.chart canvas")
    # Of each force and motion itself, its residual and their spectra; two of the reduction.
    assert charts.count() == 3 * 2 * len(run.forces[0].forces) + 2
    for k in range(charts.count()):
        assert charts.nth(k).evaluate(INK) > 0.02


def test_charts_of_a_motion_zoom_together(open_page: OpenPage, path: Path, run: Run) -> None:
    opened = open_page(path)
    settled(opened)
    page, of_motion = opened.page, 2 * len(run.forces[0].forces)
    before = [page.evaluate(SPAN, k) for k in range(of_motion + 1)]
    over = page.locator("figure.chart .u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.25 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], y, steps=4)
    page.mouse.up()
    low, high = before[0]
    for k in range(of_motion):
        span = page.evaluate(SPAN, k)
        assert span == pytest.approx(
            [low + 0.25 * (high - low), low + 0.5 * (high - low)], abs=0.02 * (high - low)
        )
    assert page.evaluate(SPAN, of_motion) == before[of_motion]  # another motion
    page.mouse.dblclick(box["x"] + 0.4 * box["width"], y)
    assert [page.evaluate(SPAN, k) for k in range(of_motion + 1)] == before
    assert opened.errors == []


def test_table_sorts(open_page: OpenPage, path: Path, run: Run) -> None:
    opened = open_page(path)
    settled(opened)
    heading = opened.page.locator("#parameter-table thead th", has_text="CAD")
    values = "#parameter-table tbody td:nth-child(6)"
    read = "cells => cells.map(cell => Number(cell.dataset.value))"
    heading.click()
    assert opened.page.eval_on_selector_all(values, read) == sorted(run.parameters.cad)
    heading.click()
    assert opened.page.eval_on_selector_all(values, read) == sorted(
        run.parameters.cad, reverse=True
    )


@pytest.mark.parametrize("width", [360, 768, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_every_width(open_page: OpenPage, path: Path, width: int, scheme: str) -> None:
    opened = open_page(path)
    page = opened.page
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    red, green, blue = page.evaluate(
        "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number)"
    )[:3]
    assert (red + green + blue > 384) == (scheme == "light")
    assert opened.errors == []
