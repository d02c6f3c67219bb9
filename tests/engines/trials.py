"""Trials over many random mechanisms, summed up as records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case, random_case
from .compare import ENGINES, Agreement, agreements, ours
from .descriptions import DESCRIPTIONS, force_difference, rank_bounds

MAIN = {"Exudyn": "accelerations from rest"}  # the quantity of the table of kinds
FEW_BODIES = 2  # of the mechanisms whose ranks are proved: balls take seconds each
RANKS_OF = 6  # every sixth mechanism
# Models, ways to solve long motions, and threads of kernels and of BLAS; the first is repeated.
RUNS = (
    ("five_bar", "tables", ((1, 1), (1, 1), (2, 1), (4, 1))),
    ("five_bar", "compiled", ((1, 1), (1, 1), (2, 1), (4, 1))),
    ("sla_suspension", "tables", ((1, 1), (4, 1))),
    ("sla_suspension", "tables", ((1, 1), (1, 4))),
)


def _cases(count: int) -> Iterator[Case]:
    for number in range(count):
        if number % 50 == 0:
            sys.stderr.write(f"mechanism {number} of {count}\n")
        yield random_case(number)


# --------------------------------------------------------------------------- engines


def engine_trial(count: int) -> dict[str, Any]:
    """Compare the first mechanisms with all engines."""
    found: dict[str, list[Agreement]] = {name: [] for name in ENGINES}
    causes, drawn = {}, Counter[str]()
    for case in _cases(count):
        mine = ours(case)
        causes[case.number] = dict(mine.causes)
        drawn.update(case.kinds)
        for agreement in agreements(case, mine):
            found[agreement.engine].append(agreement)
    alone = [
        number for number in range(count) if all(rows[number].reason for rows in found.values())
    ]
    return {
        "count": count,
        "by no engine": len(alone),
        "drawn": dict(sorted(drawn.items())),
        "by engine": {name: _sum_up(name, rows, causes) for name, rows in found.items()},
    }


def _sum_up(
    name: str, rows: list[Agreement], causes: dict[int, dict[str, float]]
) -> dict[str, Any]:
    compared = [row for row in rows if not row.reason]
    quantities: dict[str, Any] = {}
    for word in dict(compared[0].differences):
        values = np.array([dict(row.differences)[word] for row in compared])
        at = int(values.argmax())
        quantities[word] = {
            "median": _short(np.median(values)),
            "99 %": _short(np.quantile(values, 0.99)),
            "worst": _short(values[at]),
            "number": compared[at].number,
            "causes": {k: _short(x) for k, x in causes[compared[at].number].items()},
        }
    main = MAIN.get(name, "inverse dynamics")
    kinds: dict[str, Any] = {}
    for kind in sorted({kind for row in compared for kind in row.kinds}):
        of_kind = [row for row in compared if kind in row.kinds]
        worst = max(of_kind, key=lambda row: dict(row.differences)[main])
        kinds[kind] = {
            "compared": len(of_kind),
            "native": sum(kind in row.native for row in of_kind),
            "worst": _short(dict(worst.differences)[main]),
            "number": worst.number,
        }
    return {
        "compared": len(compared),
        "not expressible": dict(Counter(row.reason for row in rows if row.reason)),
        "left out": dict(Counter(kind for row in compared for kind in row.left_out)),
        "quantities": quantities,
        "kinds": kinds,
    }


def _short(x: float) -> float:
    """Two digits: more are rounding of rounding."""
    return float(f"{x:.1e}")


# --------------------------------------------------------------------------- descriptions


def description_trial(count: int) -> dict[str, Any]:
    """Compare the forces of the first mechanisms with those of other descriptions of them."""
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in DESCRIPTIONS}
    for case in _cases(count):
        for name, describe in DESCRIPTIONS.items():
            described = describe(case.mechanism, np.random.default_rng(case.number))
            if described is not None:
                found[name].append((force_difference(case, described), case.number))
    return {
        name: {
            "compared": len(rows),
            "median": _short(np.median([x for x, _ in rows])),
            "worst": _short(max(rows)[0]),
            "number": max(rows)[1],
            "causes": {k: _short(x) for k, x in ours(random_case(max(rows)[1])).causes},
        }
        for name, rows in found.items()
    }


def rank_trial(count: int) -> dict[str, Any]:
    """Prove the ranks of some of the mechanisms in all descriptions."""
    found: dict[str, list[int]] = {name: [] for name in DESCRIPTIONS}
    different: dict[str, list[int]] = {name: [] for name in DESCRIPTIONS}
    proved = mechanisms = 0
    for number in range(0, count - RANKS_OF, RANKS_OF):
        case = random_case(number + number // RANKS_OF % RANKS_OF)  # of all forms in turn
        if len(case.mechanism.bodies) > FEW_BODIES:
            continue
        before = rank_bounds(case.mechanism)
        mechanisms += 1
        proved += before[0] == before[1]
        for name, describe in DESCRIPTIONS.items():
            described = describe(case.mechanism, np.random.default_rng(case.number))
            if described is not None:
                found[name].append(case.number)
                if rank_bounds(described.change.mechanism) != before:
                    different[name].append(case.number)
        sys.stderr.write(f"rank of mechanism {case.number}: {before}\n")
    return {
        "mechanisms": mechanisms,
        "proved": proved,
        "by description": {
            name: {"compared": len(rows), "different": different[name]}
            for name, rows in found.items()
        },
    }


# --------------------------------------------------------------------------- bits


def bit_trial(count: int) -> list[dict[str, Any]]:
    """Compare the checksums of all steps between processes with these numbers of threads."""
    found = []
    for model, engine, threads in RUNS:
        first, *others = (_digests(n, engine, model, k) for k, n in enumerate(threads))
        different = [
            step for step, bits in first.items() if any(other[step] != bits for other in others)
        ]
        found.append(
            {
                "model": model,
                "engine": engine,
                "threads": threads,
                "steps": list(first),
                "different": different,
            }
        )
    return found


@cache
def _digests(threads: tuple[int, int], engine: str, model: str, run: int) -> dict[str, str]:
    """Checksums of a process of its own, with so many threads for kernels and for BLAS."""
    environment = {
        **os.environ,
        "NUMBA_NUM_THREADS": str(threads[0]),
        "OPENBLAS_NUM_THREADS": str(threads[1]),
        "MECHID_ENGINE": engine,
    }
    command = [sys.executable, "-m", "tests.engines.digests", model]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True)
    sys.stderr.write(f"{model}, {engine}, {threads} threads\n")
    return dict(json.loads(done.stdout))
