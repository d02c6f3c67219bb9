"""Mutated files of every kind: accepted or refused with one clear message, and nothing else.

python -m tests.fuzz                            every kind, 200 cases each
python -m tests.fuzz model log-csv --seconds 60 these kinds, a minute each
python -m tests.fuzz model --seed 3 --case 17   one case again
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .drive import Driver, Tally
from .kinds import KINDS
from .record import merged

_BATCH = 100
_MEMORY = Path("/dev/shm")  # files of the cases, if it is there: disks are slow


def main() -> int:
    """Run; exit with 1 if there is a defect."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--seed", type=int, help="default: a new one")
    parser.add_argument("--cases", type=int, default=200, help="of each kind")
    parser.add_argument("--seconds", type=float, help="for all kinds together, instead of --cases")
    parser.add_argument("--case", type=int, help="only the case of this number")
    parser.add_argument(
        "--thorough", action="store_true", help="take all accepted files further, not 5 %%"
    )
    parser.add_argument("--record", type=Path, help="JSON file to add the counts to")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    given = parser.parse_args()
    kinds = given.kinds or list(KINDS)
    if wrong := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"there is no kind {wrong[0]}; choose of: {', '.join(KINDS)}")
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    found: dict[str, Tally] = {}
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="mechid-fuzz-", dir=place) as scratch:
        driver = Driver(Path(scratch), given.failures, given.thorough)
        try:
            for kind in kinds:
                tally = found[kind] = Tally()
                begin = time.monotonic()
                for start, stop in _batches(given, len(kinds)):
                    part = Tally()
                    driver.run(kind, seed, start, stop, part)
                    tally.add(part)
                    if given.record is not None:  # now: a long run may be stopped
                        merged(given.record, {kind: part})
                _show(kind, seed, tally, time.monotonic() - begin)
        finally:
            driver.close()
    return 1 if any(tally.defects for tally in found.values()) else 0


def _batches(given: argparse.Namespace, kinds: int) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the first case and of the one after the last, for parts of a run."""
    if given.case is not None:
        yield given.case, given.case + 1
        return
    begin, start = time.monotonic(), 0
    while (
        start < given.cases
        if given.seconds is None
        else time.monotonic() - begin < given.seconds / kinds
    ):
        stop = start + _BATCH if given.seconds else min(start + 10 * _BATCH, given.cases)
        yield start, stop
        start = stop


def _show(kind: str, seed: int, tally: Tally, seconds: float) -> None:
    out = sys.stdout
    out.write(
        f"{kind:16} seed {seed}: {tally.cases} cases in {seconds:.0f} s, {tally.accepted} accepted,"
        f" {tally.refused} refused, {tally.defects.total()} defects; at most {tally.seconds:.2f} s"
        f" (case {tally.slowest}), {tally.memory:.0f} MiB\n"
    )
    for cause, count in tally.defects.most_common():
        out.write(f"    {count} × {cause}\n")
    out.flush()


if __name__ == "__main__":
    sys.exit(main())
