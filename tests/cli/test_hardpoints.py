"""`mechid template` and `mechid fill`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mechid.importing.template import template_names
from mechid.modelfile import load

if TYPE_CHECKING:
    from .conftest import Run


def test_templates_are_listed(run: Run) -> None:
    done = run("template")
    assert done.status == 0
    for name in template_names():
        assert f"\n{name} " in done.out
    entries = {entry["name"]: entry for entry in run("template", "--json").json}
    assert entries["multilink"]["sides"]
    assert not entries["delta"]["sides"]


def test_from_template_to_model(run: Run, tmp_path: Path) -> None:
    done = run("template", "double-wishbone", "--mirror", "-o", "axle", "--length", "m")
    assert done.out == "".join(
        f"wrote {Path('axle', name)}\n"
        for name in ("model.yaml", "hardpoints.csv", "hardpoints.xlsx")
    )
    table = tmp_path / "axle" / "hardpoints.csv"
    text = table.read_text(encoding="utf-8-sig")
    assert "spring_top,-0.024,0.512,0.655,m," in text
    table.write_text(text.replace("-0.024,0.512,0.655,m", "-24,512,-655,mm"), encoding="utf-8")
    done = run("fill", "axle/model.yaml", "axle/hardpoints.csv", "-o", "filled.yaml")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["points", "13"]
    assert lines[-2].startswith("warning: axle/hardpoints.csv: row ")
    assert lines[-2].endswith(": point spring_top moved by 1.31 m: check signs and unit")
    assert lines[-1] == "wrote filled.yaml"
    assert len(load(tmp_path / "filled.yaml").bodies) == 11
    found = run("fill", "axle/model.yaml", "axle/hardpoints.xlsx", "--json").json
    assert found["warnings"] == found["kept"] == []
    assert len(found["points"]) == 13
    assert found["output"] is None


def test_folder_is_named_after_the_template(run: Run, tmp_path: Path) -> None:
    assert len(run("template", "four-bar", "--json").json["files"]) == 3
    assert (tmp_path / "four-bar" / "model.yaml").is_file()


def test_wrong_input_ends_with_one_line(run: Run, tmp_path: Path) -> None:
    run("template", "four-bar", "-o", "linkage")
    (tmp_path / "mine.csv").write_text("point,x,y,z,unit\nA,1,2,three,m\n")
    done = run("fill", "linkage/model.yaml", "mine.csv", "-o", "filled.yaml")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith('error: mine.csv: row 2, column D (z): "three" is not a number')
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "filled.yaml").exists()
    (tmp_path / "filled.yaml").write_text("my work")
    done = run("fill", "linkage/model.yaml", "linkage/hardpoints.csv", "-o", "filled.yaml")
    assert done.err == "error: filled.yaml: the file exists; add --force to replace it\n"
    assert run("template", "four-bar", "-o", "linkage").status == 2
    assert run("template", "no-such-thing").status == 2
