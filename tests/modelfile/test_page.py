"""The manual of the format: its examples are words that the program knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mechid.modelfile import build
from mechid.modelfile.document import Document, validate
from mechid.textfile.yamlio import read

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "model-format.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = [
    block.replace("{...}", "{}") for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_is_valid(number: int) -> None:
    data, _ = read(EXAMPLES[number], f"example {number}")
    validate({"mechid": 1, "name": "example", **data})


def test_top_level_keys_are_all_explained() -> None:
    table = TEXT[TEXT.index("## Top level") : TEXT.index("## Points")]
    explained = set(
        re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    )
    assert explained == set(Document.model_fields)


def test_table_example_builds() -> None:
    data, _ = read(next(e for e in EXAMPLES if e.startswith("denavit_hartenberg")), "table")
    m = build(name="table", **data)
    assert [j.name for j in m.joints] == ["q1", "q2", "q3", "q4", "q5"]
    assert m.cut == ("q5",)


def test_spelled_out_example_builds() -> None:
    data, _ = read(EXAMPLES[-1], "spelled out")
    m = build(name="spelled", parameters={"h": 1, "a": 0.3}, **data)
    assert m.point("L", "arm").expr is None
    assert m.point("L", "ground").expr == ("0.4", "0", "h")
    assert m.joint("E").frame_b.rotation_expr is not None
