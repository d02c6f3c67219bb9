"""Every way in light and dark, on large and small screens: all can be read, nothing sticks out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import OpenTab

WAYS = ["model", "measure", "excite", "identify", "jobs"]
# Names of colours: writing, and what it is written on.
PAIRS = [
    *(
        (ink, paper)
        for ink in ("--ink", "--soft", "--accent")
        for paper in ("--page", "--panel", "--sunk", "--hover")
    ),
    *(("--accent-strong", paper) for paper in ("--tint", "--panel")),
    ("--on-accent", "--accent"),
    ("--on-accent", "--accent-strong"),
    ("--ink", "--bad-tint"),
    ("--ink", "--warn-tint"),
    ("--bad", "--panel"),
    ("--warn", "--panel"),
    ("--good", "--panel"),
]
COLOR = """(name) => {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
  probe.remove();
  return found;
}"""


def luminance(color: list[float]) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [c / 255 for c in color[:3]]
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(open_tab: OpenTab, scheme: str) -> None:
    page = open_tab(scheme=scheme).page
    for pair in PAIRS:
        dark, light = sorted(luminance(page.evaluate(COLOR, name)) for name in pair)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, pair


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_ways_fit(open_tab: OpenTab, width: int, scheme: str) -> None:
    tab = open_tab(width=width, scheme=scheme)
    for way in WAYS:
        tab.go(f"{way}?model=linkage.yaml")
        tab.page.get_by_role("heading", level=1).filter(has_text=way.capitalize()).wait_for()
        tab.page.wait_for_timeout(200)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, way
        red, green, blue = tab.page.evaluate(
            "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number)"
        )[:3]
        assert (red + green + blue > 384) == (scheme == "light")
    assert tab.errors == []
    assert tab.hosts == {tab.address.split("/")[2]}


@pytest.mark.slow
def test_switch_reaches_the_picture(open_tab: OpenTab) -> None:
    tab = open_tab("model?model=linkage.yaml")
    ink = "getComputedStyle(document.documentElement).getPropertyValue('--ink')"
    before = tab.viewer().evaluate(ink)
    tab.page.get_by_label("Light or dark").click()
    assert tab.viewer().evaluate(ink) != before
    tab.page.get_by_label("Light or dark").click()
    assert tab.viewer().evaluate(ink) == before
    tab.page.reload()
    assert tab.page.evaluate("document.documentElement.dataset.theme") == "light"
