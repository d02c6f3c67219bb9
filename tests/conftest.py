"""What every test shares: Hypothesis profiles, and a browser for the pages that mechid writes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

# Small matrices in several test processes: more threads only wait for each other. NumPy reads this
# when it is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Code that tests generate is kept for the other processes of the run, not in the user's folder.
os.environ.setdefault("MECHID_CACHE_DIR", str(Path(tempfile.gettempdir()) / "mechid-test-code"))

import hypothesis
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile(
    "ci", deadline=None, derandomize=True, database=None, print_blob=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium; tests that ask for it are skipped where there is none."""
    named = os.environ.get("MECHID_CHROMIUM")
    for name in (named,) if named else ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium found; install one, or name it in MECHID_CHROMIUM")


ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # WebGL without a graphics card.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)


@dataclass
class OpenedPage:
    """A page in the browser, what went wrong in it, and what it asked for.

    `errors` holds uncaught errors and errors on the console; `requests` holds the addresses of
    all requests except for data: and blob:, which do not leave the page.
    """

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


OpenPage = Callable[..., OpenedPage]


# Together they have every kind of joint, constraint and force element: `make test` tries with these
# what is repeated for most mechanisms of the zoo.
FEW = {
    "five_bar", "slider_crank", "rssr_linkage", "geared_gripper", "screw_press", "double_wishbone"
}  # fmt: skip
MOST = 8
ZOO = {path.stem for path in (Path(__file__).parents[1] / "src/mechid/modelfile/zoo").iterdir()}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    repeated: dict[str, dict[str, list[pytest.Item]]] = {}
    for item in items:
        if "open_page" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if case := getattr(item, "callspec", None):
            of = repeated.setdefault(item.nodeid.split("[")[0], {})
            for name in {word.split("@")[0] for word in case.id.split("-")} & ZOO:
                of.setdefault(name, []).append(item)
    for of in repeated.values():
        for name in of.keys() - FEW if len(of) >= MOST else ():
            for item in of[name]:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open an HTML file: ``open_page(path)``.

    The page does not start to play by itself, unless it is opened with ``autoplay=True``.
    ``before`` is a script to run before those of the page. ``strict=True`` enforces the security
    policy of the page, which also forbids ``wait_for_function``. ``scripts=False`` switches
    JavaScript off.
    """
    pages: list[Page] = []

    def open_file(
        path: Path,
        *,
        before: str = "",
        autoplay: bool = False,
        strict: bool = False,
        scripts: bool = True,
    ) -> OpenedPage:
        page = browser.new_page(
            viewport={"width": 1000, "height": 700},
            reduced_motion="no-preference" if autoplay else "reduce",
            bypass_csp=not strict,
            java_script_enabled=scripts,
        )
        pages.append(page)
        opened = OpenedPage(page)

        def note_console(message: ConsoleMessage) -> None:
            if message.type == "error":
                opened.errors.append(message.text)

        def note_request(request: Request) -> None:
            if not request.url.startswith(("data:", "blob:")):
                opened.requests.append(request.url)

        page.on("pageerror", lambda error: opened.errors.append(str(error)))
        page.on("console", note_console)
        page.on("request", note_request)
        if before:
            page.add_init_script(before)
        page.goto(path.resolve().as_uri())
        return opened

    yield open_file
    for page in pages:
        page.close()
