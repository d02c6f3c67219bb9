"""Logs as they are named: files and parts of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechid.errors import DataError
from mechid.measurementfile.read import file_and_part


@pytest.mark.parametrize(
    ("text", "file", "part"),
    [
        ("log.csv", "log.csv", None),
        ("log.csv@0.5:7", "log.csv", (0.5, 7.0)),
        ("log.csv@5:", "log.csv", (5.0, None)),
        ("log.csv@:1/2", "log.csv", (None, 0.5)),
        ("a@b/log.csv@1:2", "a@b/log.csv", (1.0, 2.0)),
    ],
)
def test_parts_of_files(text: str, file: str, part: object) -> None:
    assert file_and_part(text) == (Path(file), part)


def test_a_file_of_that_name_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "log.csv@1:2"
    path.touch()
    assert file_and_part(str(path)) == (path, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("log.csv@5", "5 is not a part of a log; write FILE@FROM:TO"),
        ("log.csv@5:3", "the start must be before the end, got 5"),
        ("log.csv@a:3", "log.csv@a:3"),
    ],
)
def test_bad_parts_are_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        file_and_part(text)
