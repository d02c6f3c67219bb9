"""Commands under limits of memory: `python -m tests.faults.memory`.

Each is started anew, as users do, so that loading it counts, too. It works, or ends with one line
that says why not; it neither aborts nor hangs.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from .cases import Argv, bench
from .child import Ended

SIZES = (0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0)  # GB
COMMANDS = (
    "check four_bar",
    "base four_bar",
    "simulate pendulum --t-end 0.1 -o a.csv --force",
    "excite pendulum --random 2 --starts 0 --harmonics 2 -o a.yaml --force",
    "synthesise pendulum motion.yaml --noise 2% --rate 50 -o a.parquet --force",
    "identify pendulum log.parquet --validate other.parquet -o a --force",
    "report run -o a.html --force",
    "study run study.yaml --workers 2 -o out-SIZE",
)
LONGEST = 200.0  # s: what takes longer hangs


def started(argv: Sequence[str], size: float | None = None) -> Ended:
    """Run a command in a process of its own, with a limit of its address space (bytes)."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if size is not None:
            resource.setrlimit(resource.RLIMIT_AS, (int(size), int(size)))

    line = [sys.executable, "-c", "from mechid.cli import main; main()", *argv]
    begin = time.monotonic()
    with subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        preexec_fn=limit,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            out, err = process.communicate()
            err += "hangs"
    seconds = time.monotonic() - begin
    return Ended(process.returncode, out, err, seconds, 0, frozenset())


def prepare() -> None:
    """Make here what the commands read."""
    for argv in bench():
        made = started(argv)
        if made.status != 0:
            raise AssertionError(f"{' '.join(argv)}: {made.err}")


def _try(argv: Argv, size: float) -> tuple[str, bool]:
    """Return what became of a command, in words, and whether that is right."""
    ended = started(argv, size)
    lines = ended.err.splitlines() or [""]
    how = "works" if ended.status == 0 else f"{ended.status} {lines[-1]}"
    return f"{how} ({ended.seconds:.0f} s)", ended.plain


def main() -> None:
    """Try all commands with all limits, and say what became of each."""
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        for line in COMMANDS:
            for size in SIZES:
                words, right = _try(tuple(line.replace("SIZE", f"{size}").split()), 1e9 * size)
                problems += not right
                mark = "" if right else "PROBLEM: "
                sys.stdout.write(f"{line.split(' -')[0]}, {size:g} GB: {mark}{words}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{problems} problems in {len(COMMANDS) * len(SIZES)} runs\n")
    sys.exit(problems > 0)


if __name__ == "__main__":
    main()
