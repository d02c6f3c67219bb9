"""Timing, the description of the machine, and Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

import numba

SHORTEST = 0.002  # s: what is faster is timed several times in a row
MOST = 200  # repetitions, however short

Run = Callable[[], object]


def best(run: Run, repeat: int = 5, budget: float = 0.0) -> float:
    """Return the shortest of several times of one call (s), after calls that are not timed.

    The shortest, because whatever else the machine does only ever makes a run longer; many short
    runs, because some of them then meet nothing else. A call is repeated until `repeat` and
    `budget` (s) are both used up.
    """
    return best_of_each([run], repeat, budget)[0]


def best_of_each(runs: Sequence[Run], repeat: int = 5, budget: float = 0.0) -> list[float]:
    """Return the same for several calls, taking turns, so that a busy moment meets all of them."""
    loops, round_time = [], 0.0
    for run in runs:
        run()
        once = max(elapsed(run, 1), 1e-9)
        loops.append(max(1, round(SHORTEST / once)))
        round_time += once * loops[-1]
    rounds = max(repeat, min(MOST, round(budget * len(runs) / round_time)))
    times = [
        [elapsed(run, n) / n for run, n in zip(runs, loops, strict=True)] for _ in range(rounds)
    ]
    return [min(column) for column in zip(*times, strict=True)]


def elapsed(run: Run, n: int) -> float:
    """Return the time of n calls (s)."""
    start = perf_counter()
    for _ in range(n):
        run()
    return perf_counter() - start


def table(head: Sequence[str], rows: Iterable[Sequence[object]], words: int = 1) -> str:
    """Return a Markdown table; its first `words` columns are words, the others numbers."""
    rule = [":--" if i < words else "--:" for i in range(len(head))]
    lines = [head, rule, *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def micro(seconds: float) -> str:
    """Return a time in microseconds, three digits."""
    return digits(1e6 * seconds)


def milli(seconds: float) -> str:
    """Return a time in milliseconds, three digits."""
    return digits(1e3 * seconds)


def digits(value: float) -> str:
    """Return three significant digits without an exponent; thin spaces part thousands."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.3g}"


def machine() -> str:
    """Return what the numbers depend on besides the code."""
    packages = ("mechid", "numba", "llvmlite", "numpy", "scipy", "pin")
    return table(
        ("", ""),
        [
            ("processor", cpu_name()),
            ("cores seen", os.cpu_count()),
            ("threads of Numba", numba.config.NUMBA_NUM_THREADS),
            ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
            ("Python", platform.python_version()),
            *((name, package_version(name)) for name in packages),
        ],
        words=2,
    )


def cpu_name() -> str:
    """Return the name of the processor, from /proc/cpuinfo where there is one."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def package_version(name: str) -> str:
    """Return the version of an installed package, or a dash."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "-"


def load_average() -> float:
    """Return the number of processes that wanted to run in the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def replace_between(page: Path, name: str, text: str) -> None:
    """Put a text between the markers of this name on a documentation page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{page} lacks the markers {begin} and {end}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
