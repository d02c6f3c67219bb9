"""Tables and the figure of the study of the push-rod suspension."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.figure import Figure
from pushrod_case import (
    ALL,
    AUTO,
    CAD,
    CHARACTERISED,
    ELIMINATIONS,
    MOTIONS,
    NOISE,
    ONE,
    ONE_RULE,
    STROKES,
    TWO,
    Case,
    Study,
)
from report import table

from mechid.estimation.estimate import Estimate, predict
from mechid.estimation.regression import Floats
from mechid.reduction.regroup import Regrouped

# Table 3: value of the CAD model, identified value, relative deviation in percent.
PUBLISHED = (
    ("Ixx10", 0.00002, 0.00002, 5.78),
    ("Ixz10", 0.00016, 0.00009, 8.63),
    ("Ixx12", 0.00002, 0.00002, 5.78),
    ("Ixz12", 0.00016, 0.00009, 8.63),
    ("m3 + m4", 13.8928, 16.3811, 0.075),
    ("m6", 1.37246, 4.2562, 0.79),
    ("m14", 1.37246, 4.2607, 0.79),
    ("m16 + m17", 13.8928, 16.379, 0.075),
)
FINE = 1600  # samples of the figure
ON = tuple(f"on {name}" for name in MOTIONS)


def motion_table() -> str:
    """How the wheels move."""
    rows = [(n, f"{a:g}", f"{b:g}", f"{1e3 * c:g}") for n, (a, b, c) in MOTIONS.items()]
    return table(("motion", "from, Hz", "to, Hz", "amplitude, mm"), rows)


def reason_table(s: Study) -> str:
    """Errors on T1 with and without weight, for long and short strokes."""
    rows = [
        (model, *(number(s.reasons[gravity, stroke][model])
                  for gravity in (True, False) for stroke in STROKES))
        for model in (ONE, ONE_RULE, TWO)
    ]  # fmt: skip
    head = (
        f"{1e3 * stroke:g} mm, {word} weight" for word in ("with", "without") for stroke in STROKES
    )
    return table(("model", *head), rows)


def cad_table(s: Study) -> str:
    """The default of mechid beside the others, CAD values with errors."""
    rows = [
        (name, model, *spread(s.cad[name, model]))
        for name in MOTIONS
        for model in (CAD, ONE, ONE_RULE, TWO, AUTO)
    ]
    return table(("identified with", "model", *ON), rows, words=2)


def contribution_table(s: Study) -> str:
    """How many contribute how much, and what elimination costs."""
    rows = []
    for what, found in s.contributions.items():
        costs = (
            " / ".join(number(s.eliminated[what, threshold][i]) for i in range(len(MOTIONS)))
            for threshold in ELIMINATIONS
        )
        counts = (len(found.above(threshold)) for threshold in ELIMINATIONS)
        label = f"mean of {' and '.join(CHARACTERISED)}" if what == "mean" else what
        rows.append((label, *counts, *costs))
    limits = [f"{x:g} %" for x in ELIMINATIONS]
    head = [f"above {x}" for x in limits] + [f"error, under {x} out" for x in limits]
    return (
        table(("contributions of", *head), rows) + f"\n\nErrors are those on {' / '.join(MOTIONS)}."
    )


def rank_rows(s: Study, model: str) -> list[tuple[str, int, float, list[float], list[float]]]:
    """Return the ranks of a model, the largest last."""
    return [row for row in s.ranks if row[0] == model]


def rank_table(s: Study, model: str) -> str:
    """Errors against the imposed rank."""
    head = ("rank", "κ", *(f"CAD, {x}" for x in ON), *(f"identified, {x}" for x in ON))
    rows = [
        (rank, f"{raw:.1e}", *map(number, mapped), *map(number, identified))
        for _, rank, raw, mapped, identified in rank_rows(s, model)
    ]
    return table(head, rows, words=0)


def parameter_table(s: Study, model: str, g: Regrouped) -> str:
    """Base parameters: largest terms, CAD, identified, deviations."""
    exact, noisy = s.exact[model], s.noisy[model]
    names = s.case.motions["T2"].parameters
    values = s.case.values
    inner = [n for n in names if n in {*g.regression.parameters, *g.dependent, *g.without_effect}]
    phi = values[[names.index(n) for n in inner]]
    deviations = dict(zip(noisy.parameters, noisy.relative, strict=True))
    rows = []
    for i, name in enumerate(g.regression.parameters):
        if name in exact.parameters:
            k = exact.parameters.index(name)
            rows.append((
                name,
                terms(g.matrix[i], phi, inner),
                number(float(g.matrix[i] @ phi)),
                number(exact.values[k]),
                number(exact.relative[k]),
                number(deviations[name]) if name in deviations else "gone",
            ))  # fmt: skip
    head = (
        "parameter",
        "largest terms",
        "CAD",
        "identified",
        "σ, %",
        f"σ, %, {100 * NOISE:g} % error",
    )
    return table(head, rows, words=2)


def terms(row: Floats, phi: Floats, names: Sequence[str], most: int = 3) -> str:
    """Return the terms of a sum that count most."""
    order = np.argsort(-np.abs(row * phi), kind="stable")
    count = int(np.count_nonzero(np.abs(row) > 1e-9 * np.abs(row).max()))
    text = " ".join(f"{row[k]:+.3g} {names[k]}" for k in order[:most])
    return text + (f" … ({count} terms)" if count > most else "")


def published_table(s: Study) -> str:
    """The published base parameters beside the same ones here."""
    e, mean = s.published, s.contributions["mean"]
    rows = [
        (label, number(cad), number(found), number(sigma), number(e.values[i]),
         number(e.relative[i]), f"{mean.index[mean.parameters.index(e.parameters[i])]:.1e}")
        for i, (label, cad, found, sigma) in enumerate(PUBLISHED)
    ]  # fmt: skip
    head = ("parameter", "published CAD", "published identified", "published σ, %")
    return table((*head, "identified here", "σ here, %", "contribution here, %"), rows)


def cross_table(s: Study, law: str, *, exact: bool = True) -> str:
    """Errors of all models, identified with and predicting each motion."""
    rows = []
    for name in MOTIONS:
        for model in (ALL, ONE, ONE_RULE, TWO):
            cells = [number(x) for x in s.cross["0", name, model][0]] if exact else []
            rows.append((name, model, *cells, *spread(s.cross[law, name, model])))
    head = [f"exact, {x}" for x in ON] if exact else []
    return table(
        ("identified with", "model", *head, *(f"{100 * NOISE:g} %, {x}" for x in ON)), rows, words=2
    )


def spread(errors: Floats) -> Iterable[str]:
    """Return median and range of each motion."""
    for x in errors.T:
        yield f"{number(float(np.median(x)))} ({number(x.min())} to {number(x.max())})"


def number(x: float) -> str:
    """Return three digits."""
    return f"{x:.3g}"


def figure(s: Study) -> Figure:
    """Draw forces of other motions, as figure 2 of the paper."""
    found = Figure(figsize=(7.2, 6.0), layout="constrained")
    motions = Case.of(FINE).motions
    whole, begin = slice(None, None, 8), slice(FINE // 10)
    panels = (
        ("(a) T1, left wheel", "T1", 0, s.exact, whole),
        ("(b) T3, right wheel", "T3", 1, s.exact, begin),
        ("(c) T1, right wheel, 5 % error", "T1", 1, s.noisy, whole),
    )
    for ax, panel in zip(found.subplots(len(panels)), panels, strict=True):
        title, name, channel, models, part = panel
        r = motions[name]
        curves: dict[str, Floats] = {"true": r.tau}
        chosen: dict[str, Estimate] = {"model 1": models[ONE_RULE], "model 2": models[TWO]}
        curves |= {label: predict(e, r).forces for label, e in chosen.items()}
        styles = (("#444444", "-"), ("#ee6677", "-"), ("#4477aa", "--"))
        for (label, tau), (color, dash) in zip(curves.items(), styles, strict=True):
            ax.plot(r.time[part], tau[part, channel], dash, color=color, label=label)
        ax.set_title(title, fontsize=9, loc="left")
        ax.set_ylabel("τ / N")
        ax.margins(x=0.0)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.set_xlabel("time / s")
    return found
