"""`mechid zoo` and `mechid schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mechid.modelfile import json_schema, load, loads, zoo_names, zoo_path
from mechid.trajectoryfile.document import trajectory_schema

if TYPE_CHECKING:
    from .conftest import Run


def test_zoo_lists_every_mechanism(run: Run) -> None:
    done = run("zoo")
    assert done.status == 0
    for name in zoo_names():
        assert f"\n{name} " in done.out
    assert "@example-1" in done.out


def test_zoo_as_json(run: Run) -> None:
    entries = {entry["name"]: entry for entry in run("zoo", "--json").json}
    assert set(entries) == set(zoo_names())
    suspension = entries["sla_suspension"]
    assert (suspension["bodies"], suspension["coordinates"]) == (15, 5)
    assert [v["name"] for v in suspension["variants"]] == ["struts", "measured"]


def test_zoo_prints_a_file_to_start_from(run: Run, tmp_path: Path) -> None:
    text = zoo_path("four_bar").read_text(encoding="utf-8")
    assert run("zoo", "four_bar").out == text
    done = run("zoo", "four_bar", "-o", "mine.yaml")
    assert done.out == "wrote mine.yaml\n"
    assert (tmp_path / "mine.yaml").read_text(encoding="utf-8") == text
    assert load(tmp_path / "mine.yaml") == load("four_bar")


def test_zoo_works_a_variant_in(run: Run) -> None:
    assert loads(run("zoo", "four_bar@example-1").out) == load("four_bar@example-1")


def test_files_are_not_overwritten_unasked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("my work")
    done = run("zoo", "four_bar", "-o", "mine.yaml")
    assert done.status == 2
    assert done.err == "error: mine.yaml: the file exists; add --force to replace it\n"
    assert (tmp_path / "mine.yaml").read_text() == "my work"
    assert run("zoo", "four_bar", "-o", "mine.yaml", "--force").status == 0
    assert run("zoo", "four_bar", "-o", "nowhere/mine.yaml").status == 2


def test_schema(run: Run, tmp_path: Path) -> None:
    assert run("schema").json == json_schema()
    assert run("schema", "trajectory").json == trajectory_schema()
    run("schema", "-o", "schema.json")
    assert json.loads((tmp_path / "schema.json").read_text(encoding="utf-8")) == json_schema()
