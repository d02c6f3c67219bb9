"""Which tests reach which lines: the tests run once with coverage, a process per file of tests."""

from __future__ import annotations

import hashlib
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

import coverage
import pytest

from .forked import ROOT, run_forked

SOURCE = ROOT / "src"
_SECONDS = 150.0  # of processor time for a file of tests; those that come later are not tried


class Reached:
    """A plugin of pytest: the lines and the processor time of each test that passes."""

    def __init__(self, data: Path, packages: list[str]) -> None:
        self._coverage = coverage.Coverage(
            data_file=None,
            include=[str(SOURCE / "mechid" / name / "*") for name in packages],
            config_file=False,
        )
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])
        self._data = data
        self._passed: dict[str, float] = {}
        self._begin = 0.0

    def pytest_sessionstart(self) -> None:
        signal.signal(signal.SIGXCPU, signal.default_int_handler)
        self._coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid)
        self._begin = time.process_time()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._passed[report.nodeid] = time.process_time() - self._begin

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[str, list[str]]] = {}
        for file in data.measured_files():
            path = str(Path(file).relative_to(SOURCE / "mechid"))
            lines[path] = {
                str(n): sorted(set(names) & set(self._passed))
                for n, names in data.contexts_by_lineno(file).items()
            }
        sources = {path: _digest(SOURCE / "mechid" / path) for path in lines}
        kept = {"seconds": self._passed, "lines": lines, "sources": sources}
        self._data.write_text(json.dumps(kept), "utf-8")


def measure(files: list[Path], folder: Path, packages: list[str]) -> None:
    """Measure the files of tests that changed since they were measured."""
    folder.mkdir(exist_ok=True, parents=True)
    for path in files:
        data = _data(path, folder)
        if not data.exists():
            plugin = Reached(data, packages)
            log = data.with_suffix(".txt")
            ended = run_forked([str(path.relative_to(ROOT))], SOURCE, log, _SECONDS, [plugin])
            if not data.exists():
                data.write_text('{"seconds": {}, "lines": {}}', "utf-8")
            sys.stderr.write(f"{path.relative_to(ROOT)} measured, {ended.seconds:.0f} s\n")


def _data(path: Path, folder: Path) -> Path:
    return folder / f"{path.parent.name}.{path.stem}.{_digest(path)}.json"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.exists() else ""


def load(files: list[Path], folder: Path) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the seconds of each test, and the tests of each line of each file.

    A file that has changed since it was measured has other lines: its tests count for all of them.
    """
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, list[str]]] = {}
    for path in files:
        data = _data(path, folder)
        if not data.exists():
            continue
        kept = json.loads(data.read_text("utf-8"))
        seconds |= kept["seconds"]
        for file, of_lines in kept["lines"].items():
            source = SOURCE / "mechid" / file
            reached = {int(n): names for n, names in of_lines.items()}
            if kept.get("sources", {}).get(file) != _digest(source) and source.exists():
                all_of_it = sorted(set().union(*reached.values()))
                count = len(source.read_text("utf-8").splitlines())
                reached = dict.fromkeys(range(1, count + 1), all_of_it)
            for n, names in reached.items():
                lines.setdefault(file, {}).setdefault(n, []).extend(names)
    return seconds, lines
