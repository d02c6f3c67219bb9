"""Put deliberate mistakes into the code, and see whether the tests notice: `make mutants`."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from .forked import ROOT, preload, run_forked
from .mutants import Mutant
from .near import try_near
from .page import RECORD, write_page
from .reach import load, measure
from .sample import KERNELS, PACKAGES, draw, population, stratum_of
from .trial import Bench, try_mutant

_TESTS = PACKAGES  # folders of tests that are tried
_LONG, _AROUND = 40, 10  # characters: of changes that are shown as they are, and beside others
_PLACE = Path(tempfile.gettempdir()) / "mechid-mutation"


def main() -> None:
    """Run the trials that the command line asks for."""
    parser = argparse.ArgumentParser("python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="mutants in the sample")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--package", action="append", choices=[*PACKAGES, KERNELS])
    parser.add_argument("--only", action="append", default=[], help="name of a mutant, or its end")
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    parser.add_argument("--seconds", type=float, default=25.0, help="of tests for each mutant")
    parser.add_argument(
        "--tests", action="append", default=[], help="folders or files that are tried"
    )
    parser.add_argument(
        "--near",
        action="store_true",
        help="try the files of tests that import the module, without measuring which reach it",
    )
    parser.add_argument("--place", type=Path, default=_PLACE, help="folder for what is kept")
    parser.add_argument("--write", action="store_true", help="write the record and the page")
    parser.add_argument("--list", action="store_true", help="only name the mutants of the sample")
    asked = parser.parse_args()
    strata = population(asked.package or PACKAGES)
    drawn = draw(strata, asked.count, asked.seed)
    if asked.only:
        ends = tuple(asked.only)
        drawn = [m for of in strata.values() for m in of if m.name.endswith(ends)]
    if asked.list:
        sys.stdout.writelines(f"{m.name}  {shown(m)}\n" for m in drawn)
        return
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    sample = record.setdefault(str(asked.seed), {"population": {}, "mutants": {}})
    sample["population"] |= {name: len(of) for name, of in strata.items()}
    # Code that has changed since: those mutants are no more.
    possible = {m.name for of in strata.values() for m in of}
    for name in [n for n in sample["mutants"] if stratum_of(n) in strata and n not in possible]:
        del sample["mutants"][name]
    preload()
    tests = [p for name in asked.tests or _TESTS for p in _files(ROOT / "tests" / name)]
    reach = asked.place / "reach"
    if not asked.near:
        measure(tests, reach, list(PACKAGES))
    folder = _fresh(asked.place)
    # Byte code of all that the tests load, once for all trials.
    run_forked(["--collect-only", *map(str, tests)], folder / "src", folder / "log.txt", 300.0)
    known = ({}, {}) if asked.near else load(tests, reach)
    bench = Bench(folder, *known, asked.seconds)
    for mutant in drawn:
        old = sample["mutants"].get(mutant.name, {})
        if old and not asked.only and not (asked.again and survived(old)):
            continue
        met = try_near(bench, mutant, tests) if asked.near else try_mutant(bench, mutant)
        entry = old | shown(mutant) | met
        entry = {"before": old.get("before", entry["outcome"])} | entry
        print(mutant.name, json.dumps(entry, ensure_ascii=False), flush=True)
        sample["mutants"][mutant.name] = entry
        if asked.write:
            RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if asked.write:
        write_page()


def shown(mutant: Mutant) -> dict[str, Any]:
    """Return what the record says of a mutant."""
    old, new = mutant.old, mutant.new
    if new.startswith("("):
        new = new[1:-1]
    if len(old) > _LONG:
        old, new = (x[::-1] for x in _shortened(*(x[::-1] for x in _shortened(old, new))))
    change = f"{old} → {new}"
    return {"operator": mutant.operator, "line": mutant.place[0], "change": change}


def _shortened(old: str, new: str) -> tuple[str, str]:
    """Return the texts without most of what both begin with."""
    pairs = zip(old, new, strict=False)
    same = next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))
    cut = same - _AROUND
    return (f"…{old[cut:]}", f"…{new[cut:]}") if cut > 0 else (old, new)


def survived(entry: dict[str, Any]) -> bool:
    """Whether no test noticed."""
    return entry["outcome"] in ("survived", "not reached")


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("test_*.py")) if path.is_dir() else [path]


def _fresh(place: Path) -> Path:
    """Return a folder with copies of src and of the compiled code."""
    place.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=place))
    atexit.register(shutil.rmtree, folder)
    shutil.copytree(ROOT / "src", folder / "src")
    cache = Path(os.environ.get("MECHID_CACHE_DIR", folder / "none"))
    if cache.is_dir():
        shutil.copytree(cache, folder / "cache")
    else:
        (folder / "cache").mkdir()
    return folder


if __name__ == "__main__":
    main()
