"""Files of the folder: read, written whole, uploaded within limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx import Client

from mechid.studies.study import library
from mechid.studio.folder import Folder, kind_of, listing
from mechid.studio.state import Studio


def test_what_files_are(folder: Path) -> None:
    contents = {
        "m.yaml": "# a comment\nmechid: 1\n", "map.yml": "measurement: 1\n",
        "t.yaml": "trajectory: 1\n", "s.yaml": "title: a\nexperiment: motions\n",
        "x.yaml": "other: 1\n", "log.csv": "", "arm.urdf": "",
        "points.xlsx": "", "points.csv": "\ufeff# a\n\nPoint;x;y;z\nA;1;2;3\n",
        "page.html": "", "notes.md": "", "run/run.json": "{}",
        "s2.yaml": "title: a\nparts: {}\n", "a.study/provenance.json": "{}",
        "bag/metadata.yaml": "", "deep/er/log.mat": "",
    }  # fmt: skip
    for name, text in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = {entry["path"]: entry["kind"] for entry in listing(Folder(folder))}
    assert found == {
        "m.yaml": "model", "map.yml": "mapping", "t.yaml": "trajectory", "s.yaml": "study",
        "s2.yaml": "study", "x.yaml": "other",
        "log.csv": "data", "arm.urdf": "robot", "points.xlsx": "table", "points.csv": "table",
        "page.html": "page",
        "notes.md": "other", "run": "run", "a.study": "result", "bag": "data",
        "deep": "folder", "deep/er": "folder",
        "deep/er/log.mat": "data", "linkage.yaml": "model",
    }  # fmt: skip
    assert kind_of(folder / "linkage.yaml") == "model"


def test_state(client: Client, folder: Path) -> None:
    state = client.get("/api/state").json()
    assert state["folder"] == str(folder)
    assert "four_bar" in [entry["name"] for entry in state["zoo"]]
    assert {"name", "title", "sides"} == set(state["templates"][0])
    assert [entry["name"] for entry in state["studies"]] == list(library())


def test_a_file_changed_by_somebody_else_is_not_overwritten(client: Client, folder: Path) -> None:
    path = "/api/file?path=linkage.yaml"
    found = client.get(path).json()
    data = (folder / "linkage.yaml").read_bytes()
    assert found["text"].encode() == data
    assert found["etag"] == hashlib.sha256(data).hexdigest()

    first = client.put(path, content="one", headers={"if-match": f'"{found["etag"]}"'})
    assert first.status_code == 200
    second = client.put(path, content="two", headers={"if-match": f'"{found["etag"]}"'})
    assert second.status_code == 412
    assert client.put(path, content="three").status_code == 412  # exists
    assert (folder / "linkage.yaml").read_text() == "one"
    again = client.put(path, content="four", headers={"if-match": first.json()["etag"]})
    assert again.status_code == 200
    assert (folder / "linkage.yaml").read_text() == "four"


def test_zoo_files_are_read_as_they_stand(client: Client, folder: Path) -> None:
    found = client.get("/api/file?path=zoo:four_bar").json()
    assert found["text"] == (folder / "linkage.yaml").read_text()
    assert found["etag"] is None
    assert client.get("/api/file?path=zoo:../four_bar").status_code == 404


def test_text_that_is_none(client: Client, folder: Path) -> None:
    (folder / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    (folder / "large.csv").write_bytes(b"1\n" * (3 * 2**20))
    assert client.get("/api/file?path=picture.png").status_code == 422
    assert client.get("/api/file?path=large.csv").status_code == 413
    assert client.get("/api/file?path=nowhere.yaml").status_code == 404
    assert client.put("/api/file?path=n.yaml", content=b"\xff").status_code == 422
    assert client.put("/api/file?path=n.yaml", content=b"1" * (5 * 2**20)).status_code == 413


def test_upload_and_download(client: Client, folder: Path) -> None:
    data = bytes(range(256)) * 100
    answer = client.post("/api/upload?path=data/log.mat", content=data)
    assert (answer.status_code, answer.json()["kind"]) == (201, "data")
    assert client.get("/api/download?path=data/log.mat").content == data
    assert client.post("/api/upload?path=data/log.mat", content=b"x").status_code == 409
    assert client.post("/api/upload?path=data/log.mat&replace=1", content=b"x").status_code == 201
    assert (folder / "data" / "log.mat").read_bytes() == b"x"


@pytest.mark.parametrize("stated", [True, False])
def test_uploads_that_are_too_large(
    client: Client, folder: Path, studio: Studio, stated: bool
) -> None:
    sent = 0

    def parts() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 1000
            yield b"x" * 1000

    content = b"x" * (studio.most_upload + 1) if stated else parts()
    answer = client.post("/api/upload?path=log.mat", content=content)
    assert answer.status_code == 413
    assert [p.name for p in folder.iterdir()] == ["linkage.yaml"]  # nothing is left of it


def test_template_tables(client: Client) -> None:
    found = client.get("/api/template?name=four-bar").json()
    assert "Four-bar linkage" in found["table"].splitlines()[0]
    assert "point,x,y,z,unit" in found["table"]
    assert client.get("/api/template?name=nothing").status_code == 404
    assert client.get("/api/template?name=four-bar&length=parsec").status_code == 422
    book = client.get("/api/template/sheet?name=four-bar")
    assert book.content[:2] == b"PK"
