"""Every public function has an example in its docstring, and it does what it says."""

from __future__ import annotations

import doctest
import inspect
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import mechid

FUNCTIONS = [name for name in mechid.__all__ if inspect.isfunction(getattr(mechid, name))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function = getattr(mechid, name)
    found = doctest.DocTestFinder(recurse=False).find(function, name, globs={})
    examples = [test for test in found if test.examples]
    assert examples, f"{name} has no example"
    failures: list[str] = []
    for test in examples:
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=failures.append)
    assert not failures, "".join(failures)


RECORDS = [name for name in mechid.__all__ if is_dataclass(getattr(mechid, name))]


@pytest.mark.parametrize("name", [*FUNCTIONS, *RECORDS])
def test_every_parameter_and_field_is_documented(name: str) -> None:
    """Each stands in a line `name : type`, or together with others in one.

    Fields of a record of options that a function takes as keywords stand in that record.
    """
    public = getattr(mechid, name)
    if name in RECORDS:
        wanted = [f.name for f in fields(public)]
    else:
        parameters = inspect.signature(public).parameters
        options = parameters["options"].default if "options" in parameters else None
        elsewhere = {f.name for f in fields(options)} if options is not None else set()
        wanted = [word for word in parameters if word not in elsewhere]
    lines = re.findall(r"^ *([*\w]+(?:, [*\w]+)*)(?: :.*)?$", public.__doc__ or "", re.MULTILINE)
    documented = {word.lstrip("*") for line in lines for word in line.split(", ")}
    assert [word for word in wanted if word not in documented] == []
