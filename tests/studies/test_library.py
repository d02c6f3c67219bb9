"""The studies that come with mechid: their quick sizes run, and their pages follow from tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechid.studies.page import read_tables, study_page
from mechid.studies.run import run_study
from mechid.studies.study import library, library_folder, load_study

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [name for name in library() if (library_folder() / f"{name}.md.j2").is_file()]


@pytest.mark.parametrize("name", library())
def test_quick_sizes_run(name: str, tmp_path: Path) -> None:
    result = run_study(load_study(name, quick=True), tmp_path / "out", workers=0)
    for part in result.status():
        assert part["complete"], part
        assert part["refused"] < part["cells"], part


@pytest.mark.parametrize("name", PAGES)
def test_pages_follow_from_the_tables(name: str) -> None:
    study = load_study(name)
    text, figures = study_page(
        study, read_tables(study, DOCS / "studies" / "data" / name), "../img/studies"
    )
    assert text == (DOCS / "studies" / f"{name}.md").read_text(encoding="utf-8")
    assert figures.keys() == {p.name for p in (DOCS / "img" / "studies").glob(f"{name}-*.svg")}
    assert "nan" not in text.split()
