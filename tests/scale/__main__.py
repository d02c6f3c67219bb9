"""python -m tests.scale [TRIAL SIZE]…: measure, write the record and the tables.

Each trial runs in a process of its own, so that its memory is its own. Trials: streamed, whole
(logs, samples), motion, simulation (seconds), large (bodies). By default those of the page.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.records import DATA, write_tables
from tests.scale import trials
from tests.scale.tables import tables

RECORD = DATA / "scale.json"
PAGE = (
    ("whole", 1_000_000),
    *(("streamed", n) for n in (1_000_000, 10_000_000)),
    *(("large", n) for n in (31, 99)),
    ("motion", 3600),
    ("simulation", 3600),
)


def main(words: list[str]) -> None:
    """Run trials, or one of them here (--here TRIAL SIZE [FILE])."""
    if words[:1] == ["--here"]:
        name, size, *file = words[1:]
        found = getattr(trials, name)(Path(file[0]) if file else int(size))
        sys.stdout.write(json.dumps(found) + "\n")
        return
    wanted = list(zip(words[::2], map(int, words[1::2]), strict=True)) or PAGE
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name, size in wanted:
            file = Path(folder) / f"{size}.parquet"
            if name in ("streamed", "whole") and not file.exists():
                trials.made_log(file, size)
            command = [sys.executable, "-m", "tests.scale", "--here", name, str(size)]
            command += [str(file)] if file.exists() else []
            # As on the command line: threads of the linear algebra wait for each other.
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=environment
            )
            record.setdefault(name, {})[str(size)] = json.loads(done.stdout.splitlines()[-1])
            RECORD.parent.mkdir(parents=True, exist_ok=True)
            RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
            sys.stdout.write(f"{name} {size}\n")
    write_tables("scale.md", tables(record))


if __name__ == "__main__":
    main(sys.argv[1:])
