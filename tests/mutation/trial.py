"""One mutant against the tests that may notice it, the quickest first."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from .forked import Ended, run_forked
from .mutants import Mutant

_FIRST = 2.0  # seconds of the tests that are tried before the others are even collected
_FILES = 4
_LEAST = 0.05  # seconds that a test costs at least
_ALLOWED = (60.0, 4.0)  # processor time: so much, and so many times as long as without a mistake
KILLER = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Chosen:
    """A plugin of pytest: runs the tests of a list, in its order."""

    def __init__(self, names: list[str]) -> None:
        self._rank = {name: k for k, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._rank),
            key=lambda item: self._rank[item.nodeid],
        )


@dataclass(frozen=True)
class Bench:
    """What trials share.

    Attributes
    ----------
    folder : Path
        With a copy of src and of the compiled code, of which each trial gets links.
    seconds : dict of float
        Of each test.
    lines : dict
        The tests of each line of each module.
    most : float
        Seconds of tests that are tried against one mutant.
    """

    folder: Path
    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    most: float

    def reaching(self, mutant: Mutant) -> list[str]:
        """Return the tests that may notice: `most` seconds of them.

        Those come first that are quick, and that spend a large part of their lines in the module.
        """
        of = self.lines.get(mutant.path, {})
        inside = Counter(name for tests in of.values() for name in tests)
        names = {name for n in mutant.lines or of for name in of.get(n, ())}
        files = {name.split("::")[0] for name in names}

        def key(name: str) -> tuple[bool, float]:
            # What a file makes once for all its tests is counted for the first of them only.
            share = inside.get(name, 0.1) / self._reached.get(name, 1)
            return name not in names, (self.seconds[name] + _LEAST) / share

        same = [name for name in self.seconds if name.split("::")[0] in files]
        return list(self._affordable(sorted(same, key=key)))

    @cached_property
    def _reached(self) -> Counter[str]:
        of_files = self.lines.values()
        return Counter(name for of in of_files for tests in of.values() for name in tests)

    def _affordable(self, names: list[str]) -> Iterator[str]:
        total = 0.0
        for name in names:
            total += self.seconds[name]
            if total > self.most:
                return
            yield name

    def stages(self, names: list[str]) -> Iterator[list[str]]:
        """Yield some quick tests of few files, then the others."""
        total, files, first = 0.0, set[str](), []
        for name in names:
            file = name.split("::")[0]
            if total + self.seconds[name] <= _FIRST and len(files | {file}) <= _FILES:
                total += self.seconds[name]
                files.add(file)
                first.append(name)
        chosen = set(first)
        yield from (part for part in (first, [x for x in names if x not in chosen]) if part)


def try_mutant(bench: Bench, mutant: Mutant) -> dict[str, Any]:
    """Return how the tests met a mutant: an entry of the record."""
    names = bench.reaching(mutant)
    found = {"outcome": "survived" if names else "not reached", "tests": len(names), "seconds": 0.0}
    with mutated(bench.folder, mutant) as (source, cache, log):
        for stage in bench.stages(names):
            ended = _run(bench, stage, source, log, cache)
            found["seconds"] = round(found["seconds"] + ended.seconds, 1)
            if ended.status:
                killer = KILLER.search(log.read_text("utf-8", errors="replace"))
                found["outcome"] = "time-out" if ended.status == -1 else "killed"
                found["by"] = killer[1] if killer else f"status {ended.status}"
                # Not a test that fails: is it the mistake, or is something missing here?
                if "::" not in found["by"] and ended.status != -1:
                    right = _run(bench, stage, bench.folder / "src", log, cache)
                    if right.status:
                        raise RuntimeError(
                            f"tests fail without a mistake: {log.read_text('utf-8')}"
                        )
                break
    return found


def _run(bench: Bench, tests: list[str], source: Path, log: Path, cache: Path) -> Ended:
    return run_forked(
        ["-x", *sorted({name.split("::")[0] for name in tests})],
        source,
        log,
        _ALLOWED[0] + _ALLOWED[1] * sum(bench.seconds[name] for name in tests),
        [Chosen(tests)],
        {"MECHID_CACHE_DIR": str(cache)},
    )


@contextmanager
def mutated(folder: Path, mutant: Mutant) -> Iterator[tuple[Path, Path, Path]]:
    """Give places for a trial: src with the mistake, compiled code, and the log of the tests."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source, cache = Path(place) / "src", Path(place) / "cache"
        for copy in (source, cache):
            shutil.copytree(folder / copy.name, copy, copy_function=os.link)
        path = source / "mechid" / mutant.path
        text = mutant.text(path.read_text("utf-8"))
        path.unlink()
        path.write_text(text, "utf-8")
        yield source, cache, Path(place) / "log.txt"
