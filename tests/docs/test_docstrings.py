"""Every public function has an example in its docstring, and it does what it says."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import mechid

FUNCTIONS = [name for name in mechid.__all__ if inspect.isfunction(getattr(mechid, name))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


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
