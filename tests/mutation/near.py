"""Tests near a module: files of tests that import it, directly or through few other modules.

For a sample that cannot wait until all tests have been measured once with coverage (`reach.py`):
what is not near is not tried, so that fewer mistakes are noticed than by all tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from .forked import ROOT, Ended, run_forked
from .mutants import Mutant
from .trial import KILLER, Bench, mutated

_MOST = 12  # files of tests for a mutant
_FAR = 3  # imports between a file of tests and the module
_FIRST = 8.0  # seconds that a file gets before all others have had theirs: quick ones come first


def near(path: str, tests: Iterable[Path]) -> list[Path]:
    """Return the files of tests that are nearest to a module of mechid, given by its path."""
    wanted = _name(Path(path))
    found = []
    for test in tests:
        steps = _steps(test, wanted)
        if steps <= _FAR:
            # Of files that are equally near, those about few things, and named after the module.
            named = wanted.rpartition(".")[2] in test.stem
            same = test.parent.name == path.split("/", 1)[0]
            found.append((steps - named, not same, len(_imports(test)), test))
    return [test for *_, test in sorted(found)[:_MOST]]


def try_near(bench: Bench, mutant: Mutant, tests: Iterable[Path]) -> dict[str, Any]:
    """Return how the tests near a mutant met it: an entry of the record.

    `bench.most` seconds of processor time, in two rounds, so that long files do not keep short ones
    from their turn; a run that is longer has not noticed anything.
    """
    files = near(mutant.path, tests)
    found = {"outcome": "survived" if files else "not reached", "tests": 0, "seconds": 0.0}
    # Names of compiled code have checksums of it, so that trials can share what they compile.
    compiled = {"MECHID_CACHE_DIR": str(bench.folder / "cache")}
    with mutated(bench.folder, mutant) as (source, _, log):
        for most in (_FIRST, bench.most):
            unfinished = []
            for file in files:
                left = min(most, bench.most - found["seconds"])
                if left <= 0:
                    return found
                tried = ["-x", str(file.relative_to(ROOT))]
                ended = run_forked(tried, source, log, left, environment=compiled)
                found["seconds"] = round(found["seconds"] + ended.processor, 1)
                found["tests"] += most == _FIRST
                if ended.status == -1:
                    unfinished.append(file)
                elif ended.status:
                    return found | {"outcome": "killed", "by": _killer(bench, file, ended, log)}
            files = unfinished
    return found


def _killer(bench: Bench, file: Path, ended: Ended, log: Path) -> str:
    """Return the test that failed, or the status if the mistake stops the import."""
    killer = KILLER.search(log.read_text("utf-8", errors="replace"))
    if killer and "::" in killer[1]:
        return killer[1]
    right = run_forked(["--collect-only", str(file)], bench.folder / "src", log, 100.0)
    if right.status:
        raise RuntimeError(f"cannot be loaded: {file}")
    return f"status {ended.status}"


def _steps(test: Path, wanted: str) -> int:
    """Return the number of imports from a file to a module, _FAR + 1 if there are more."""
    seen: set[str] = set()
    level = _imports(test)
    for steps in range(1, _FAR + 1):
        if wanted in level:
            return steps
        seen |= level
        level = {x for name in level for x in _imports(_file(name))} - seen
    return _FAR + 1


@cache
def _imports(path: Path) -> frozenset[str]:
    """Return the modules of mechid that a file imports, and those of the names of `mechid.X`."""
    if not path.exists():
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mechid."):
            module = node.module or ""
            found |= {module, *(f"{module}.{x.name}" for x in node.names)}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "mechid":
            found.add(_public().get(node.attr, ""))
    return frozenset(name for name in found if name and _file(name).exists())


@cache
def _public() -> dict[str, str]:
    """Return the module of each public name."""
    stub = ast.parse((ROOT / "src" / "mechid" / "__init__.pyi").read_text("utf-8"))
    return {
        x.asname or x.name: f"mechid.{node.module}"
        for node in ast.walk(stub)
        if isinstance(node, ast.ImportFrom)
        for x in node.names
    }


def _file(name: str) -> Path:
    path = ROOT / "src" / Path(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _name(path: Path) -> str:
    return ".".join(("mechid", *path.with_suffix("").parts))
