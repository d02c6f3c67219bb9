"""Several processes on the same output at the same moment."""

from __future__ import annotations

from pathlib import Path

from .cases import Argv, Case
from .child import start, wait
from .trees import Tree, fresh, tree, whole
from .trials import Bench, Found

AT_ONCE = 3


def try_together(
    bench: Bench, case: Case, argvs: list[Argv], prepared: Path, allowed: list[Tree], tries: int
) -> Found:
    """Start processes at once; the result must be that of one of them.

    Parameters
    ----------
    bench : Bench
    case : Case
    argvs : list of tuples of str
        Command lines, repeated in turn until there are AT_ONCE.
    prepared : Path
    allowed : list of trees
        What may be there in the end.
    tries : int
    """
    found = Found()
    for n in range(tries):
        fresh(prepared, bench.work)
        lines = [argvs[(n + k) % len(argvs)] for k in range(AT_ONCE)]
        running = [start(line, bench.work, name=str(k)) for k, line in enumerate(lines)]
        ended = [wait(x) for x in running]
        done = sum(x.status == 0 for x in ended)
        found.trials["processes at once"] += AT_ONCE
        found.outcomes["done"] += done
        found.outcomes["refused"] += AT_ONCE - done
        for x in ended:
            if not x.plain:
                found.problems.append(f"at once: status {x.status}: {x.err[-500:]}")
        if not done:
            found.problems.append(f"at once: nobody was done: {ended[0].err[-300:]}")
        now = tree(bench.work)
        if "--add" in case.argv:
            added = sum(name.startswith("run/motions/validation-") for name in now)
            if added != done:
                found.problems.append(f"at once: {done} added, {added} are there")
        elif whole(now) not in allowed:
            found.problems.append("at once: a mixture of two results")
        if set(now) != set(whole(now)):
            left = sorted(set(now) - set(whole(now)))
            found.problems.append(f"at once: left {left[0]}")
    return found
