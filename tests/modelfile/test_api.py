"""Finding models, the zoo, and the JSON Schema."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mechid.errors import ModelError
from mechid.modelfile import (
    Document,
    build,
    dumps,
    json_schema,
    load,
    loads,
    save,
    zoo,
    zoo_entry,
    zoo_names,
    zoo_path,
)
from mechid.modelfile.zoo_list import made_list

TEXT = """\
mechid: 1
name: bar
bodies: {b: {}}
joints: {j: {type: free, between: [ground, b]}}
variants: {v: {title: changed}}
"""


def test_file_and_variant(tmp_path: Path) -> None:
    file = tmp_path / "bar.yaml"
    file.write_text(TEXT)
    assert load(file).title == ""
    assert load(f"{file}@v").title == "changed"
    assert load(Path(f"{file}@v")).title == "changed"
    with pytest.raises(
        ModelError, match=r"bar\.yaml:5: variants: there is no variant w; choose one of: v"
    ):
        load(f"{file}@w")


def test_file_with_an_at_in_its_name(tmp_path: Path) -> None:
    file = tmp_path / "bar@home.yaml"
    file.write_text(TEXT)
    assert load(file).name == "bar"
    assert load(f"{file}@v").title == "changed"


def test_errors_say_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(TEXT.replace("free", "fee"))
    with pytest.raises(ModelError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}:4: joints.j.type: unknown joint type")
    assert caught.value.path == ("joints", "j", "type")


def test_missing_file_suggests_the_zoo(tmp_path: Path) -> None:
    name = zoo_names()[0]
    with pytest.raises(ModelError, match=rf"no file {name}x and no such mechanism.*{name}"):
        load(f"{name}x")
    with pytest.raises(ModelError, match=r"there is no file .*nothing\.yaml; the zoo has "):
        load(tmp_path / "nothing.yaml")


def test_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no file"):
        load(tmp_path)


def test_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot write the file"):
        save(loads(TEXT), tmp_path / "nowhere" / "m.yaml")


def test_same_words_in_python() -> None:
    m = build(
        name="bar", bodies={"b": {}}, joints={"j": {"type": "free", "between": ["ground", "b"]}}
    )
    assert m == loads(TEXT)


ZOO = [
    spec
    for name in zoo_names()
    for spec in (name, *(f"{name}@{variant}" for variant, _ in zoo_entry(name).variants))
]


@pytest.mark.slow
@pytest.mark.parametrize("spec", ZOO)
def test_zoo_loads_and_survives_saving(spec: str) -> None:
    m = load(spec)
    assert m.name == spec.partition("@")[0]
    assert m.title
    assert loads(dumps(m)) == m


def test_zoo_listing() -> None:
    entries = zoo()
    assert tuple(e.name for e in entries) == zoo_names()
    assert all(zoo_path(e.name).is_file() for e in entries)
    with pytest.raises(ModelError, match="the zoo has no mechanism nothing_like_it"):
        zoo_path("nothing_like_it")


def test_the_list_of_the_zoo_says_what_its_files_say() -> None:
    """Else run python -m mechid.modelfile.zoo_list."""
    assert zoo() == made_list()


def test_schema_describes_the_document() -> None:
    schema = json_schema()
    json.dumps(schema)
    assert set(schema["properties"]) == {f.alias or n for n, f in Document.model_fields.items()}
    assert schema["required"] == ["mechid", "name"]
    assert schema["additionalProperties"] is False
    assert {"in", "at"} <= set(schema["$defs"]["PointIn"]["properties"])


def test_no_symbolic_library_is_loaded() -> None:
    code = "import sys, mechid.modelfile; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
