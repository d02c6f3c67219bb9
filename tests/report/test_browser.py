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
NO_WEBGL = """
  const get = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return kind.startsWith("webgl") ? null : get.call(this, kind, ...rest);
  };"""
SPAN = "(k) => { const x = mechidReport.charts[k].scales.x; return [x.min, x.max]; }"


@pytest.fixture(scope="session")
def path(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(run, tmp_path_factory.mktemp("report") / "report.html")


def settled(opened: OpenedPage) -> None:
    opened.page.wait_for_function("window.mechidReport !== undefined")


@pytest.mark.slow
def test_quiet_without_network(open_page: OpenPage, path: Path) -> None:
    opened = open_page(path, strict=True)
    opened.page.locator("iframe.viewer").scroll_into_view_if_needed()
    opened.page.wait_for_timeout(500)
    assert opened.errors == []
    assert opened.requests == [path.resolve().as_uri()]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_without_scripts_there_are_pictures(open_page: OpenPage, path: Path) -> None:
    page = open_page(path, scripts=False).page
    charts = page.locator("figure.chart .plot")
    assert charts.count() > 4
    assert all(charts.nth(k).is_visible() for k in range(charts.count()))
    assert page.locator(".still svg").is_visible()
    assert not page.locator("iframe.viewer").is_visible()
    assert page.locator("#parameter-table").is_visible()


def test_without_webgl_there_is_a_picture(open_page: OpenPage, path: Path) -> None:
    page = open_page(path, before=NO_WEBGL).page
    page.wait_for_function("window.mechidReport !== undefined")
    assert page.locator(".still svg").is_visible()
    assert not page.locator("iframe.viewer").is_visible()
    assert page.locator("figure.chart canvas").first.is_visible()


def test_on_paper_nothing_is_clipped(open_page: OpenPage, path: Path) -> None:
    """A4 with usual margins is 718 pixels wide."""
    page = open_page(path).page
    page.set_viewport_size({"width": 718, "height": 1000})
    page.emulate_media(media="print")
    page.wait_for_timeout(200)
    clipped = page.evaluate(
        "() => [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility()"
        " && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert clipped == []
    assert page.locator(".still svg").is_visible()
    assert not page.locator("iframe.viewer").is_visible()
    assert not page.locator("figure.chart canvas").first.is_visible()
    charts = page.locator("figure.chart .plot")
    assert all(charts.nth(k).is_visible() for k in range(charts.count()))
    # Swatches and bars are strokes and borders, which need no background graphics.
    assert page.locator(".legend svg").first.is_visible()
    assert (
        page.locator(".bars .bar > span").first.evaluate(
            "(e) => parseFloat(getComputedStyle(e).borderTopWidth)"
        )
        == 11
    )
    assert page.pdf(format="A4")[:5] == b"%PDF-"


@pytest.mark.slow
def test_tables_are_cards_on_a_phone(open_page: OpenPage, path: Path, run: Run) -> None:
    opened = open_page(path)
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    row = page.locator("#parameter-table tbody tr").first
    cells = row.locator("td")
    right = [cells.nth(k).evaluate("(e) => e.getBoundingClientRect().right") for k in range(10)]
    assert max(right) <= 390
    label = "(e) => getComputedStyle(e, '::before').content"
    assert cells.nth(4).evaluate(label) == '"CAD "'
    # It can still be sorted.
    page.locator("#parameter-table thead th", has_text="CAD").click()
    read = "cells => cells.map(cell => Number(cell.dataset.value))"
    values = page.eval_on_selector_all("#parameter-table tbody td:nth-child(6)", read)
    assert values == sorted(run.parameters.cad)


@pytest.mark.slow
def test_points_are_shown_on_request(open_page: OpenPage, path: Path) -> None:
    opened = open_page(path)
    opened.page.locator("iframe.viewer").scroll_into_view_if_needed()
    (frame,) = [f for f in opened.page.frames if f.parent_frame is not None]
    frame.wait_for_function("window.mechid?.ready")
    assert not frame.locator("#points").is_visible()
    frame.locator("button[name=points]").click()
    frame.evaluate("mechid.seek(0.2)")
    shown = frame.locator("#points span:visible")
    assert shown.count() > 2
    assert opened.errors == []


def test_time_is_named_only_under_the_pointer(open_page: OpenPage, path: Path) -> None:
    opened = open_page(path)
    settled(opened)
    chart = opened.page.locator("#forces figure.chart").first
    chart.scroll_into_view_if_needed()
    label = chart.locator(".u-legend .u-series").first
    assert not label.is_visible()
    chart.locator(".u-over").hover()
    assert label.is_visible()
    assert opened.errors == []
