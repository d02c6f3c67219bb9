"""The page about versions shows its record."""

from __future__ import annotations

import json

from tests.package.page import PAGE, RECORD, tables
from tests.package.steps import difference
from tests.records import PAGES, stale_tables


def test_page_and_record_agree() -> None:
    assert not stale_tables(PAGE, tables()), "run: make package"


def test_failed_steps_of_the_record_are_explained() -> None:
    """A step that failed is named on the page below the tables, with what it printed."""
    text = (PAGES / PAGE).read_text("utf-8").rpartition("<!-- end -->")[2]
    for trial in json.loads(RECORD.read_text("utf-8"))["trials"]:
        for step in trial["steps"]:
            if step["status"]:
                assert f"`{step['name']}`" in text
                assert step["stderr"].rstrip().splitlines()[-1] in text


def test_difference_in_standard_deviations() -> None:
    one, other = {"values": [1.0, 2.0]}, {"values": [1.5, 2.0], "sigma": [0.25, 1.0]}
    assert difference(one, other) == 2.0
