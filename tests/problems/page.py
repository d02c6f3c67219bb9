"""Tables and figures of docs/reliability/benchmark-problems.md, from the record of the trial."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..records import DATA, markdown_table

PAGE = "benchmark-problems.md"
RECORD = DATA / "benchmark-problems.json"
FIGURES = DATA.parents[1] / "img" / "reliability"
ACCURACIES = (1e-3, 1e-6, 1e-9)
ENGINES = ("mechid", "Exudyn", "MuJoCo")
MARKS = {"mechid": "o", "Exudyn": "s", "MuJoCo": "^"}

Row = Mapping[str, Any]


def read_record() -> dict[str, Any]:
    """Return the record."""
    return dict(json.loads(RECORD.read_text("utf-8")))


def tables(record: Mapping[str, Any]) -> dict[str, str]:
    """Return all tables of the page by name."""
    problems: Mapping[str, Row] = record["problems"]
    return {
        "machine": markdown_table(("", ""), record["machine"].items()),
        "truth": markdown_table(
            ("problem", "model", "bodies", "loops", "s", "truth"),
            [
                (
                    p["title"],
                    f"`{p['model']}`",
                    p["bodies"],
                    p["loops"],
                    f"{p['end']:g}",
                    p["truth"],
                )
                for p in problems.values()
            ],
        ),
        "fastest": _fastest(problems),
        "figures": "\n\n".join(
            f"![{p['title']}](../img/reliability/problem-{name}.svg)"
            for name, p in problems.items()
        ),
        "formulations": _formulations(problems),
        "crossing": _crossing(record["crossing"]),
        "reasons": _reasons(record["crossing"]),
    }


def _fastest(problems: Mapping[str, Row]) -> str:
    rows = []
    for p in problems.values():
        for accuracy in ACCURACIES:
            cells = [_quickest(p["outcomes"], engine, accuracy) for engine in ENGINES]
            rows.append((p["title"], f"{accuracy:.0e} {p['unit']}", *cells))
    heads = ("problem", "error at most", *(f"{engine}, s" for engine in ENGINES))
    return markdown_table(heads, rows)


def _quickest(outcomes: Sequence[Row], engine: str, accuracy: float) -> str:
    own = [o for o in outcomes if o["engine"] == engine]
    good = [o for o in own if o["error"] is not None and o["error"] <= accuracy]
    if good:
        first = min(good, key=lambda o: o["seconds"])
        return f"{first['seconds']:.2g} ({first['method']})"
    finished = [o["error"] for o in own if o["error"] is not None]
    return f"not reached, best {min(finished):.0e}" if finished else "not modelled"


def _formulations(problems: Mapping[str, Row]) -> str:
    """Smallest error of each way of mechid, with its time."""
    methods = list(
        dict.fromkeys(
            o["method"] for p in problems.values() for o in p["outcomes"] if o["engine"] == "mechid"
        )
    )
    rows = []
    for p in problems.values():
        for method in methods:
            own = [o for o in p["outcomes"] if o["engine"] == "mechid" and o["method"] == method]
            done = [o for o in own if o["error"] is not None]
            if done:
                best = min(done, key=lambda o: o["error"])
                words = (
                    f"{best['error']:.1e} {p['unit']}",
                    f"{best['seconds']:.2g}",
                    best["setting"],
                )
                rows.append((p["title"], method, *words, _stops(own)))
            elif own:
                rows.append((p["title"], method, "-", "-", "-", _stops(own)))
    heads = ("problem", "formulation, integrator", "least error", "s", "rtol", "not finished")
    return markdown_table(heads, rows)


def _stops(outcomes: Sequence[Row]) -> str:
    stopped = [f"{o['setting']}: {o['why']}" for o in outcomes if o["error"] is None]
    return "; ".join(stopped) or "-"


def _crossing(rows: Sequence[Row]) -> str:
    found = []
    for way in dict.fromkeys(row["way"] for row in rows):
        own = [row for row in rows if row["way"] == way]
        for formulation in dict.fromkeys(row["formulation"] for row in own):
            these = [row for row in own if row["formulation"] == formulation]
            counts = Counter(row["outcome"] for row in these)
            worst = max(row["error"] for row in these)
            cells = (counts[x] for x in ("right", "refused", "wrong"))
            found.append((way, formulation, *cells, f"{worst:.0e}"))
    heads = ("mechanism", "formulation", "right", "refused", "wrong", "largest error, rad")
    return markdown_table(heads, found)


def _reasons(rows: Sequence[Row]) -> str:
    found = [
        (row["way"], row["formulation"], row["integrator"], f"{row['rtol']:.0e}", row["why"])
        for row in rows
        if row["outcome"] == "refused"
    ]
    heads = ("mechanism", "formulation", "integrator", "rtol", "reason")
    return markdown_table(heads, found) if found else "None."


def draw(record: Mapping[str, Any], folder: Path = FIGURES) -> None:
    """Write one figure per problem: error against processor time."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from mechid.plots.style import STYLE, svg

    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, p in record["problems"].items():
            figure = Figure(figsize=(7.0, 4.2), layout="constrained")
            axes = figure.add_subplot()
            done = [o for o in p["outcomes"] if o["error"] is not None]
            for engine, method in dict.fromkeys((o["engine"], o["method"]) for o in done):
                own = [o for o in done if (o["engine"], o["method"]) == (engine, method)]
                axes.loglog(
                    [o["seconds"] for o in own],
                    [max(o["error"], 1e-16) for o in own],
                    marker=MARKS[engine],
                    markersize=4,
                    linewidth=1,
                    linestyle="-" if engine == "mechid" else "--",
                    label=f"{engine}: {method}",
                )
            axes.set(xlabel="processor time, s", ylabel=f"largest error, {p['unit']}")
            axes.set_title(p["title"])
            axes.grid(True, which="major", linewidth=0.4, alpha=0.5)
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7, frameon=False)
            (folder / f"problem-{name}.svg").write_text(str(svg(figure)), "utf-8")
