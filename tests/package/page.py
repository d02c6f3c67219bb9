"""docs/reliability/versions.md: its tables, from the record of the trial."""

from __future__ import annotations

from tests.records import DATA

RECORD = DATA / "versions.json"


def write_page() -> None:
    """Render the tables of the page."""
