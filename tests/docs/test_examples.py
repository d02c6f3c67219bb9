"""Every example of README.md and of the documentation does what the page says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Shell

ROOT = Path(__file__).parents[2]
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.exists()
]


# The others are for `make test-all`.
FIRST = (
    "README.md",
    *(f"docs/tutorials/{x}.md" for x in ("model-file", "base-parameters", "identify")),
)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=() if page in FIRST else pytest.mark.slow) for page in PAGES]
)
def test_examples_of_page(page: str, run_page: Callable[..., int], forked: Shell) -> None:
    run_page((ROOT / page).read_text(encoding="utf-8"), page, forked)
