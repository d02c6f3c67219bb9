"""The page of the study of worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from report import table


def page(found: Sequence[dict[str, Any]]) -> str:
    return "\n".join(_machine(found, name) for name in dict.fromkeys(o["machine"] for o in found))


def _machine(found: Sequence[dict[str, Any]], name: str) -> str:
    methods = list(dict.fromkeys(m for o in found for m in o["methods"]))
    rows = []
    for world in dict.fromkeys(o["world"] for o in found):
        cases = [o for o in found if (o["machine"], o["world"]) == (name, world)]
        if cases:
            rows.append([world, *(_cell(cases, m) for m in methods)])
    return table(["", *methods], rows)


def _cell(cases, method):
    totals = [
        o["methods"][method]["total"] for o in cases if "total" in o["methods"].get(method, {})
    ]
    if not totals:
        return "-"
    return " / ".join(f"{100 * x:.3g}" for x in np.median(totals, axis=0))
