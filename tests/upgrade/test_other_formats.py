"""Files of a newer release, or of none: one line that says so, before anything else is read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from mechid.cli.app import main

FILES = Path(__file__).parent / "files" / "0.1"
MODEL = "model.yaml"
# Kind of file: the file with the number, its key, and a command that reads it.
KINDS = {
    "model file": (MODEL, "mechid", ["check", MODEL]),
    "trajectory file": (
        "motion.yaml", "trajectory", ["inverse", MODEL, "motion.yaml", "-o", "f.csv"]),
    "mapping file": (
        "mapping.yaml", "measurement", ["measurement", MODEL, "log.csv", "--map", "mapping.yaml"]),
    "certificate": ("certificate.json", "format", ["verify-certificate", "certificate.json"]),
    "run": ("run/run.json", "run", ["validate", "run", "log.csv"]),
    "result of the study": ("study/provenance.json", "study", ["study", "table", "study"]),
    "truth file": (
        "log.csv.truth.json", "truth",
        ["synthesise", MODEL, "motion.yaml", "--truth", "log.csv.truth.json", "-o", "d.csv"]),
}  # fmt: skip


def _error(kind: str, number: object, place: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the line that a file gets with this number of its format, and an unknown entry."""
    shutil.copytree(FILES, place, dirs_exist_ok=True)
    name, key, command = KINDS[kind]
    path = place / name
    data = yaml.safe_load(path.read_text("utf-8"))
    data |= {key: f"mechid certificate {number}" if key == "format" else number, "newer": {"a": 1}}
    path.write_text(json.dumps(data), "utf-8")
    with pytest.raises(SystemExit) as left:
        main(command)
    assert left.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_a_newer_format(kind: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = _error(kind, 99, place, capsys)
    assert f"the {kind} has format 99, of a newer mechid" in line
    assert "pip install --upgrade mechid" in line


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "certificate"])
@pytest.mark.parametrize("number", [0, True, "one", None])
def test_no_format(
    kind: str, number: object, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = _error(kind, number, place, capsys)
    assert f"the format of the {kind} must be" in line
    assert "upgrade" not in line


@pytest.mark.parametrize("number", ["", "one", "1.5", "1 2"])
def test_no_format_of_a_certificate(
    number: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "not a certificate of mechid" in _error("certificate", number, place, capsys)
