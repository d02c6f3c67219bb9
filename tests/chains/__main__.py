"""python -m tests.chains [--count N] [--seed S] [--stage count|certify|use] [--folder DIR]
       python -m tests.chains --record [--folder DIR]

Draw random closed chains and take each through the commands, in a process of its own that may take
so many seconds for each command. What was done is not done again: results stand in the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.chains.draw import drawn_model
from tests.chains.record import collected, tables
from tests.chains.trial import STAGES
from tests.records import DATA, write_tables

REPOSITORY = Path(__file__).parents[2]
RECORD = DATA / "chains.json"


def tried(stage: str, seconds: float, folders: list[Path]) -> Path:
    """Run a stage in one folder after the other; return the last that was reached.

    A command that took more than so many seconds is `hung`.
    """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY)}
    words = [sys.executable, "-m", "tests.chains.trial", stage, str(seconds)]
    for folder in folders:
        (folder / f"{stage}.jsonl").unlink(missing_ok=True)
    code = subprocess.run(
        [*words, *(str(folder) for folder in folders)], env=environment, stdout=subprocess.DEVNULL
    ).returncode
    for folder in folders:
        found: dict[str, Any] = {}
        last = ""
        for line in (folder / f"{stage}.jsonl").read_text("utf-8").splitlines():
            said = json.loads(line)
            last = said.pop("begins", last)
            found |= said
        ended = bool(found.pop("ends", False))
        if not ended:
            found[last] = {"status": "hung" if code == -signal.SIGALRM else f"crash {code}"}
        (folder / f"{stage}.json").write_text(json.dumps(found) + "\n", "utf-8")
        if not ended:
            break
    return folder


def main() -> None:
    """Try all, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.chains")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stage", choices=tuple(STAGES), default="count")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--folder", type=Path, default=Path("chains"))
    parser.add_argument("--record", action="store_true", help="write the record, try nothing")
    given = parser.parse_args()
    if given.record:
        record = collected(given.folder)
        lines = ",\n".join(json.dumps(chain) for chain in record)
        RECORD.write_text(f"[\n{lines}\n]\n", "utf-8")
        write_tables("chains.md", tables(record))
        return
    folders = []
    for number in range(given.first, given.first + given.count):
        folder = given.folder.resolve() / f"{given.seed}-{number:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        folders.append(folder)
        model = folder / "model.yaml"
        if not model.exists():
            model.write_text(drawn_model(given.seed, number), "utf-8")
    while left := [f for f in folders if not (f / f"{given.stage}.json").exists()]:
        tried(given.stage, given.seconds, left[:10])


if __name__ == "__main__":
    main()
