"""Tables of docs/reliability/numerics.md from its record."""

from __future__ import annotations

from typing import Any

from mechid.mechanism.element_kinds import ELEMENT_KINDS
from mechid.mechanism.records import JOINT_KINDS

from ..records import markdown_table

PAGE, RECORD = "numerics.md", "numerics.json"
# From this factor on, a cause counts as the reason of a disagreement.
NOTEWORTHY = 10.0
SOLVED = ("forward dynamics", "accelerations from rest")
OWN_REASONS = {"accelerations in motion": "differences that Exudyn takes"}


def tables(record: dict[str, Any]) -> dict[str, str]:
    """Return the tables by their names."""
    engines = record["engines"]["by engine"]
    return {
        "engines": _engines(record["engines"], record["versions"]),
        "quantities": _quantities(engines),
        "kinds": _kinds(record["engines"]["drawn"], engines),
        "descriptions": _descriptions(record["descriptions"], record["ranks"]),
        "bits": _bits(record["bits"]),
    }


def _engines(record: dict[str, Any], versions: dict[str, str]) -> str:
    package = {"Pinocchio": "pin", "MuJoCo": "mujoco", "Exudyn": "exudyn"}
    rows = []
    for name, found in record["by engine"].items():
        why = ", ".join(f"{n} {reason}" for reason, n in found["not expressible"].items())
        left = ", ".join(f"{n} {kind}" for kind, n in found["left out"].items())
        rows.append((f"{name} {versions[package[name]]}", found["compared"], why or "-",
                     left or "-"))  # fmt: skip
    rows.append(("none of them", record["by no engine"], "", ""))
    heads = ("engine", "mechanisms", "not expressible, because of", "compared without these")
    return markdown_table(heads, rows)


def reason(causes: dict[str, float], solved: bool = False) -> str:
    """Name the causes by which rounding is amplified most; accelerations are `solved` for."""
    acting = {k: x for k, x in causes.items() if solved or k != "condition of the mass matrix"}
    large = sorted(((x, k) for k, x in acting.items() if x >= NOTEWORTHY), reverse=True)
    return ", ".join(f"{k} {x:.0f}" for x, k in large[:2]) or "rounding"


def _quantities(engines: dict[str, Any]) -> str:
    rows = [
        (name, word, _e(q["median"]), _e(q["99 %"]), _e(q["worst"]), q["number"],
         OWN_REASONS.get(word) or reason(q["causes"], word in SOLVED))
        for name, found in engines.items()
        for word, q in found["quantities"].items()
    ]  # fmt: skip
    heads = ("engine", "quantity", "median", "99 %", "worst", "mechanism", "its causes")
    return markdown_table(heads, rows)


def _kinds(drawn: dict[str, int], engines: dict[str, Any]) -> str:
    joints = [kind for joint in JOINT_KINDS for kind in (joint, f"{joint} closing a loop")]
    order = [*joints, "coupling", "distance constraint", *ELEMENT_KINDS]
    rows = [
        (kind, drawn[kind], *(_cell(found, kind) for found in engines.values()))
        for kind in order
        if kind in drawn
    ]
    return markdown_table(("mechanisms with", "drawn", *engines), rows)


def _cell(found: dict[str, Any], kind: str) -> str:
    """Worst disagreement and number of mechanisms; of elements, how many the engine has itself."""
    if kind not in found["kinds"]:
        return "-"
    k = found["kinds"][kind]
    own = f", {k['native']} its own" if kind in ELEMENT_KINDS else ""
    return f"{_e(k['worst'])} ({k['compared']}{own})"


def _descriptions(forces: dict[str, Any], ranks: dict[str, Any]) -> str:
    rows = []
    for name, found in forces.items():
        r = ranks["by description"][name]
        equal = f"{r['compared'] - len(r['different'])} of {r['compared']}"
        rows.append((name, found["compared"], _e(found["median"]), _e(found["worst"]),
                     reason(found["causes"]), equal))  # fmt: skip
    heads = ("changed", "mechanisms", "median", "worst", "its causes", "bounds of the rank equal")
    return markdown_table(heads, rows)


def _bits(runs: list[dict[str, Any]]) -> str:
    rows = []
    for run in runs:
        threads = ", ".join(f"{kernels} + {blas}" for kernels, blas in run["threads"])
        steps, differ = (", ".join(run[key]) for key in ("steps", "different"))
        rows.append((run["model"], run["engine"], threads, steps, differ or "none"))
    heads = ("model", "way", "threads of kernels + BLAS", "steps", "different bits")
    return markdown_table(heads, rows)


def _e(x: float) -> str:
    return f"{x:.0e}" if x else "0"
