"""One model file through the commands: a line of JSON for each, as soon as it has ended."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import IO, Any

from mechid.cli import main, progress
from mechid.errors import MechidError
from mechid.exact.field import field_rank
from mechid.modelfile import load

_MODEL, _MOTION, _LOG, _RUN = "model.yaml", "motion.yaml", "log.parquet", "run"
_KEPT = ("base", "lower_bound", "upper_bound", "certified", "notes", "valid", "parameters")
COUNT: tuple[tuple[str, ...], ...] = (("check", _MODEL, "--json"), ("field",))
CERTIFY: tuple[tuple[str, ...], ...] = (
    ("base", _MODEL, "--certificate", "certificate.json", "--json", "--force"),
    ("verify-certificate", "certificate.json", "--json"),
)
USE: tuple[tuple[str, ...], ...] = (
    ("excite", _MODEL, "--random", "4", "--starts", "1", "--iterations", "2", "--harmonics", "2",
     "-o", _MOTION, "--force"),
    ("synthesise", _MODEL, _MOTION, "--noise", "5%", "--cad-error", "20%", "--periods", "2",
     "--seed", "1", "-o", _LOG, "--force"),
    ("identify", _MODEL, _LOG, "--cad-error", "20%", "-o", _RUN, "--force"),
    ("report", _RUN, "--force"),
)  # fmt: skip
STAGES = {"count": COUNT, "certify": CERTIFY, "use": USE}


def field() -> dict[str, Any]:
    """Return the rank over a prime field of the model itself."""
    try:
        found = field_rank(load(_MODEL), primes=1)
    except MechidError as error:
        return {"status": 2, "error": str(error)}
    return {"status": 0, "rank": found.rank}


def command(words: tuple[str, ...]) -> dict[str, Any]:
    """Run a command of the tool in this process."""
    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main(list(words))
    except SystemExit as left:
        status = left.code or 0
    found: dict[str, Any] = {"status": status}
    if status:
        found["error"] = err.getvalue().strip()[-400:]
    if "--json" in words and out.getvalue():
        said = json.loads(out.getvalue())
        found |= {key: said[key] for key in _KEPT if key in said}
    return found


def run(stage: str, tell: Callable[[dict[str, Any]], None]) -> None:
    """Run the commands of a stage, as far as each leads to the next."""
    for words in STAGES[stage]:
        tell({"begins": words[0]})
        begin = time.perf_counter()
        try:
            found = field() if words == ("field",) else command(words)
        except BaseException:
            found = {"status": "traceback", "error": traceback.format_exc()[-1500:]}
        found["seconds"] = round(time.perf_counter() - begin, 1)
        tell({words[0]: found})
        if stage != "count" and found["status"] != 0:
            break  # the others need its file


def here(stage: str, seconds: float, folders: list[str]) -> None:
    """Run in one folder after the other, each with a model; end where a command takes too long.

    The signal is left to the system, which ends the process in compiled code too.
    """
    progress.compile_ahead = lambda: False
    progress.EVERY = float("inf")
    for folder in folders:
        os.chdir(folder)
        with Path(f"{stage}.jsonl").open("w", encoding="utf-8") as file:

            def tell(words: dict[str, Any], file: IO[str] = file) -> None:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                file.write(json.dumps(words) + "\n")
                file.flush()

            run(stage, tell)
            tell({"ends": stage})


if __name__ == "__main__":
    here(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
