"""A studio in a process of its own and a browser that looks at it, with the policy enforced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mechid.modelfile.zoo import zoo_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Frame, Locator, Page

ROOT = Path(__file__).parents[3]
PATIENCE = 90.0  # s for a first computation on a busy machine
LINE = [sys.executable, "-c", "from mechid.cli import main; main()", "studio"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder; the address, with its token."""
    with subprocess.Popen(
        [*LINE, str(folder), "--no-browser", "--json"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["address"]
        finally:
            process.terminate()


@dataclass
class Tab:
    """A tab with the studio, what went wrong in it, and what it asked for."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def go(self, place: str) -> None:
        """Go to a way: `go("measure?log=rig.csv")`."""
        self.page.evaluate("place => { location.hash = place; }", f"#/{place}")

    def until(self, what: Callable[[], Any]) -> Any:
        """Wait until something is true, and return it."""
        end = time.monotonic() + PATIENCE
        while not (found := what()):
            assert time.monotonic() < end, "it did not happen"
            self.page.wait_for_timeout(50)
        return found

    def see(self, text: str, exact: bool = False) -> Locator:
        """Wait until a text can be seen."""
        found = self.page.get_by_text(text, exact=exact).first
        found.wait_for(timeout=1000 * PATIENCE)
        return found

    def viewer(self) -> Frame:
        """Wait for the moving picture; its frame."""
        shown = self.page.locator(".mechanism iframe:not(.coming)")
        shown.wait_for(timeout=1000 * PATIENCE)
        handle = shown.element_handle()
        assert handle is not None
        frame = handle.content_frame()
        assert frame is not None
        self.until(lambda: frame.evaluate("window.mechid?.ready"))
        return frame

    def tab_to(self, name: str, most: int = 120) -> None:
        """Press Tab until what has this name, or begins with this text, has the focus."""
        named = """() => {
          const e = document.activeElement;
          return e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText || "";
        }"""
        seen = []
        for _ in range(most):
            self.page.keyboard.press("Tab")
            seen.append(self.page.evaluate(named).strip())
            if seen[-1].startswith(name):
                return
        raise AssertionError(f"{name} is not reached; there are {seen}")


OpenTab = Callable[..., Tab]


def picture(tab: Tab, name: str) -> None:
    """Take a picture; with MECHID_PICTURES set, it becomes that of the documentation."""
    tab.page.wait_for_timeout(300)
    taken = tab.page.screenshot()
    if "MECHID_PICTURES" in os.environ:
        (ROOT / f"docs/img/studio_{name}.png").write_bytes(taken)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A studio for all tests, with a linkage and a log of it; address and folder."""
    folder = tmp_path_factory.mktemp("browser") / "bench"
    folder.mkdir()
    (folder / "linkage.yaml").write_text(zoo_path("five_bar").read_text("utf-8"), "utf-8")
    write_log(folder / "rig.csv", folder / "named.csv")
    with serving(folder) as address:
        yield address, folder


def write_log(path: Path, named: Path) -> None:
    """Write a log of the linkage in ms, degrees and N mm, and one that needs no mapping."""
    import numpy as np

    from mechid.dynamics.inverse import inverse_dynamics
    from mechid.kinematics.motion import solve_motion
    from mechid.modelfile.api import load

    t = np.arange(400) / 100
    w, phase = 2 * np.pi * np.array([0.5, 0.75]), np.array([0.0, 1.0])
    y = 0.3 * np.sin(np.outer(t, w) + phase)
    yd, ydd = 0.3 * w * np.cos(np.outer(t, w) + phase), -(w**2) * y
    tau = inverse_dynamics(solve_motion(load("five_bar"), y, yd, ydd, time=t)).tau
    noise = np.random.default_rng(3).standard_normal(tau.shape)
    table = np.column_stack([1000 * t, np.rad2deg(y), 1000 * (tau + 0.01 * noise), 21 + 0 * t])
    names = "clock [ms],left [deg],right [deg],cell_1 [N mm],cell_2 [N mm],room"
    np.savetxt(path, table, "%.6f", ",", header=names, comments="")
    table = np.column_stack([t, y, tau + 0.01 * noise])
    np.savetxt(named, table, "%.6f", ",", header="time,q1,q2,M1,M2", comments="")


@pytest.fixture
def folder(served: tuple[str, Path]) -> Path:
    """The folder of the studio of all tests."""
    return served[1]


@pytest.fixture
def open_tab(browser: Browser, served: tuple[str, Path]) -> Iterator[OpenTab]:
    """Open the studio: ``open_tab("measure", width=390, scheme="dark")``.

    With ``beside=tab``, a second tab of the same browser.
    """
    contexts: list[BrowserContext] = []

    def open_it(
        place: str = "",
        *,
        width: int = 1400,
        height: int = 900,
        scheme: str = "light",
        address: str = served[0],
        beside: Tab | None = None,
    ) -> Tab:
        if beside is None:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,  # type: ignore[arg-type]
                reduced_motion="reduce",
                accept_downloads=True,
            )
            contexts.append(context)
        else:
            context = beside.page.context
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        tab = Tab(page, address)
        page.on("pageerror", lambda error: tab.errors.append(str(error)))
        page.on("console", lambda m: tab.errors.append(m.text) if m.type == "error" else None)
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("data:", "blob:", "about:"))
                else tab.hosts.add(request.url.split("/")[2])
            ),
        )
        page.goto(address)
        tab.until(lambda: page.evaluate("window.studio?.ready"))
        if place:
            tab.go(place)
        return tab

    yield open_it
    for context in contexts:
        context.close()
