"""Studies that ship with the package: quick sizes run, and pages are what their tables say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mechid.studies.page import read_tables, study_page
from mechid.studies.rows import grid_table
from mechid.studies.run import run_study
from mechid.studies.study import library, load_study

DOCS = Path(__file__).parents[2] / "docs"
# Names within a drawing come from the last digits of places, which processors round differently.
_NAMES = re.compile(r"\b[pm][0-9a-f]{10}\b")


@pytest.mark.slow
@pytest.mark.parametrize("name", library())
def test_quick_size_runs(name: str) -> None:
    found = run_study(name, "out", quick=True, workers=0)
    for row in found.status():
        assert row["complete"]
        assert row["refused"] < row["cells"], row["first_refusal"]
        # The full size has the same columns, or more: pages are written for them.
        data = DOCS / "studies" / "data" / name / f"{row['part']}.parquet"
        if data.is_file():
            import pyarrow.parquet as pq

            assert set(found.table(row["part"]).column_names) <= set(pq.read_schema(data).names)


@pytest.mark.slow
@pytest.mark.parametrize("name", library())
def test_page_is_what_the_tables_say(name: str) -> None:
    """Made anew by `mechid study page NAME docs/studies/data/NAME -o docs/studies/NAME.md
    --images docs/img/studies`."""
    study = load_study(name)
    text, figures = study_page(
        study, read_tables(study, DOCS / "studies" / "data" / name), "../img/studies"
    )
    assert (DOCS / "studies" / f"{name}.md").read_text(encoding="utf-8") == text
    assert "nan" not in text.split()
    for file, drawing in figures.items():
        shown = (DOCS / "img" / "studies" / file).read_text(encoding="utf-8")
        assert _NAMES.sub("", shown) == _NAMES.sub("", drawing)


@pytest.mark.parametrize("name", library())
def test_tables_have_the_cells_of_the_study_file(name: str) -> None:
    study = load_study(name)
    for part, table in read_tables(study, DOCS / "studies" / "data" / name).items():
        axes = list(study.part(part).axes)
        grid = grid_table(axes, study.part(part).cells)
        for axis in axes:
            assert table[axis].unique().to_pylist() == grid[axis].unique().to_pylist()
        assert len(table["cell"].unique()) == len(grid["cell"].unique())
