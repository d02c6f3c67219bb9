"""The long trials of docs/reliability/numerics.md: `python -m tests.engines [PART] [--count N]`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numba

from ..records import DATA, write_tables
from .tables import PAGE, RECORD, tables
from .trials import bit_trial, description_trial, engine_trial, rank_trial

PARTS: dict[str, Callable[[int], Any]] = {
    "engines": engine_trial,
    "descriptions": description_trial,
    "ranks": rank_trial,
    "bits": bit_trial,
}


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tests.engines", description=__doc__)
    words.add_argument("part", nargs="?", choices=list(PARTS), help="default: all")
    words.add_argument("--count", type=int, default=500, help="random mechanisms")
    given = words.parse_args()
    numba.set_num_threads(1)
    path = DATA / RECORD
    record = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for part in [given.part] if given.part else PARTS:
        record[part] = PARTS[part](given.count)
        record["versions"] = {p: version(p) for p in ("mujoco", "pin", "exudyn")}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    write_tables(PAGE, tables(record))


if __name__ == "__main__":
    main()
