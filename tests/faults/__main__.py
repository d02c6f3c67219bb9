"""Kill, starve and forbid every command that writes: `python -m tests.faults --kills 200`."""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

from .cases import CASES, bench
from .child import library, warm
from .page import RECORD, write_page
from .places import try_limits, try_places
from .together import try_together
from .trees import fresh
from .trials import Bench, Found, Trials

_MEMORY = Path("/dev/shm")
_LOCKED = {"identify", "reduce", "study run"}  # folders that different commands may want at once


def main() -> None:
    """Run the trials that the command line asks for."""
    parser = argparse.ArgumentParser("python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=10, help="at random times, of each command")
    parser.add_argument("--step", type=int, default=1, help="try every n-th file operation")
    parser.add_argument("--together", type=int, default=2, help="tries with processes at once")
    parser.add_argument("--command", action="append", choices=CASES, help="default: all")
    parser.add_argument("--write", action="store_true", help="write the record and the page")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        if "LD_PRELOAD" not in os.environ:
            os.environ["LD_PRELOAD"] = str(library(Path(folder)))
            os.environ |= {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}
            line = [sys.executable, "-m", "tests.faults", *sys.argv[1:]]
            sys.exit(os.spawnv(os.P_WAIT, sys.executable, line))
        names = asked.command or list(CASES)
        record = {}
        for name, row in trials(Path(folder), names, asked):
            sys.stdout.write(f"{name}: {json.dumps(row)}\n")
            sys.stdout.flush()
            record[name] = row
            if asked.write:
                _keep(record)
    if asked.write:
        write_page()
    sys.exit(any(row["problems"] for row in record.values()))


def _keep(record: dict[str, Any]) -> None:
    """Put the rows of some commands into the record of all."""
    kept = (json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}) | record
    ordered = {name: kept[name] for name in CASES if name in kept}
    RECORD.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")


def trials(
    folder: Path, names: list[str], asked: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was found, by command."""
    place = Bench(folder / "bench", folder / "work")
    place.inputs.mkdir()
    os.chdir(place.inputs)
    typer.main.get_command = cache(typer.main.get_command)  # most of the time of a small command
    for argv in bench() if any(CASES[name].inputs for name in names) else ():
        _warmed(argv, place.inputs)
    for name in names:
        begin = time.monotonic()
        founds = _trials_of(place, name, asked)
        yield name, _row(founds) | {"minutes": round((time.monotonic() - begin) / 60, 1)}


def _trials_of(place: Bench, name: str, asked: argparse.Namespace) -> list[Found]:
    case = CASES[name]
    prepared = place.prepare(case)
    warming = place.work.with_name("warming")
    fresh(prepared, warming)
    _warmed(case.argv, warming)
    if case.old:
        _warmed((*case.old, "--force"), warming)
    gc.freeze()  # forked processes share what they do not touch
    draw = random.Random(zlib.crc32(name.encode()))
    kills = asked.kills // 2 if case.old else asked.kills
    new = Trials(place, case, case.argv, prepared)
    _disturb(new, kills, asked.step, draw)
    founds = [new.found, try_places(place, name, case, prepared, new.after)]
    founds.append(try_limits(place, case, prepared, new.after))
    argvs, allowed = [case.forced], [new.after]
    if case.old:
        other = Trials(place, case, (*case.old, "--force"), prepared)
        if name in _LOCKED:
            argvs, allowed = [*argvs, other.argv], [*allowed, other.after]
        _warmed(case.old, prepared)
        replaced = Trials(place, case, case.forced, prepared)
        _disturb(replaced, asked.kills - kills, asked.step, draw)
        founds.append(replaced.found)
        allowed.append(replaced.after)
    founds.append(try_together(place, case, argvs, prepared, allowed, asked.together))
    return founds


def _disturb(tried: Trials, kills: int, step: int, draw: random.Random) -> None:
    tried.kill_at_operations(step)
    tried.fail_operations(step)
    tried.kill_at_times(kills, draw)


def _warmed(argv: tuple[str, ...], folder: Path) -> None:
    status, err = warm(argv, folder)
    if status != 0:
        raise AssertionError(f"{' '.join(argv)}: {err}")


def _row(founds: list[Found]) -> dict[str, Any]:
    """Return the sums of some trials, for the record."""
    trials: Counter[str] = sum((x.trials for x in founds), Counter())
    return {
        "operations": max(x.operations for x in founds),
        "trials": dict(trials),
        "outcomes": dict(sum((x.outcomes for x in founds), Counter[str]())),
        "states": sum(x.states for x in founds),
        "problems": [problem for x in founds for problem in x.problems],
    }


if __name__ == "__main__":
    main()
