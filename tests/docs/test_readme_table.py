"""The numbers of README.md and of the page of the published cases are what mechid computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mechid
from mechid.tables import closure_residual

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CASES = (ROOT / "docs" / "reference" / "zoo-cases.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.*) \| (\S+) m \| (\d+) \| (\d+) \|$", CASES, re.MULTILINE)


def test_the_table_has_the_five_cases() -> None:
    assert len(ROWS) == 5


@pytest.mark.parametrize(("name", "parameters", "base"), [(r[0], r[3], r[4]) for r in ROWS])
def test_base_parameters(name: str, parameters: str, base: str) -> None:
    null = mechid.null_space(mechid.load(name))
    assert len(null.names) == int(parameters)
    assert len(null.names) - null.rank == int(base)


@pytest.mark.parametrize(("name", "counts", "residual"), [row[:3] for row in ROWS])
def test_counts_and_closure_residual(name: str, counts: str, residual: str) -> None:
    m = mechid.mobility(mechid.load(name))
    joints = sum(m.joints.values())
    expected = [m.bodies, joints, m.grubler, m.dof, m.redundant_constraints]
    assert [int(count) for count in counts.split(" | ")] == expected
    motion = mechid.tour(mechid.load(name))
    # Rounding differs between machines; its order of magnitude does not.
    assert closure_residual(motion.model, motion.q).max() < 5 * float(residual)


def test_size_of_the_zoo() -> None:
    assert f"a zoo of {len(mechid.zoo())} mechanisms" in README


def test_what_it_is_worth_is_what_the_study_found() -> None:
    """The table is a part of the page that the study generates."""
    page = (ROOT / "docs" / "studies" / "scorecard.md").read_text(encoding="utf-8")
    suspension = page.partition("## `sla_suspension")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| .+ % \| .+ % \|$", README, re.MULTILINE)
    assert len(rows) == 8
    for row in rows:
        assert f"\n{row}" in suspension
