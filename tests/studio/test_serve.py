"""Starting: what is served and shown first, and what is wrong before anything is served."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from mechid.cli.app import main
from mechid.errors import DataError, MechidError
from mechid.studio import serve


def test_what_is_served_and_shown_first(tmp_path: Path) -> None:
    model, run = tmp_path / "m.yaml", tmp_path / "run"
    model.write_text("mechid: 1\n")
    run.mkdir()
    (run / "run.json").write_text(json.dumps({}))
    place = tmp_path.resolve()
    assert serve._folder_of(tmp_path) == (place, None)
    assert serve._folder_of(model) == (place, "m.yaml")
    assert serve._folder_of(run) == (place, "run")
    with pytest.raises(DataError, match="no such file"):
        serve._folder_of(tmp_path / "nowhere")
    odd = tmp_path / os.fsdecode(b"a\xff")
    odd.mkdir()
    with pytest.raises(DataError, match="not UTF-8; rename the folder"):
        serve._folder_of(odd)


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(SystemExit) as left:
            main(["studio", str(tmp_path), "--no-browser", "--port", str(port)])
    assert left.value.code == 2
    assert f"cannot use port {port}" in capsys.readouterr().err


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    with pytest.raises(MechidError, match=r"pip install \"mechid\[studio\]\""):
        serve.serve_studio(tmp_path)
