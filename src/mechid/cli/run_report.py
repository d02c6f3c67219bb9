"""What commands say of a run: for JSON, and to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from mechid.cli.common import print_notes, print_pairs, print_table

if TYPE_CHECKING:
    from mechid.runs.record import Run

_VAGUE = 100.0  # percent: a standard deviation as large as the value itself


def report(run: Run) -> dict[str, Any]:
    """Return everything that a run says, ready for JSON."""
    from mechid.options import to_words
    from mechid.runs.folder import summary

    return {
        "model": run.mechanism.name,
        "samples": len(run.motions[0].time),
        **summary(run),
        "parameters": _parameters(run),
        "offsets": _offsets(run),
        "validation": to_words(run.validation),
        "known": list(run.final.known),
        "stages": list(run.stages),
        "notes": [
            *_preparation(run),
            *_advice(run),
        ],
        "warnings": list(run.warnings),
        "diagnosis": to_words(run.diagnosis),
        "friction": None if run.friction is None else to_words(run.friction),
    }


def _preparation(run: Run) -> list[str]:
    """Return how the motions were prepared; of others than the first only what is different."""
    first, *others = run.motions
    news = [f"{m.name}: {note}" for m in others for note in m.notes if note not in first.notes]
    return [*first.notes, *news]


def _advice(run: Run) -> list[str]:
    """Say which options help where single values mean little."""
    if run.final.agreement is not None or not (run.final.relative > _VAGUE).any():
        return []
    return ["try --estimator auto (with CAD values) or --reduce contribution"]


def _parameters(run: Run) -> list[dict[str, Any]]:
    final, table = run.final, run.parameters
    at = {name: i for i, name in enumerate(final.parameters)}
    rows = []
    for i, name in enumerate(table.names):
        k = at.get(name)
        row: dict[str, Any] = {
            "name": name,
            "unit": table.units[i],
            "expression": table.text[i],
            "cad": float(table.cad[i]),
            "cad_sigma": float(table.cad_sigma[i]),
            "value": None if k is None else float(final.values[k]),
            "sigma": None if k is None else float(final.sigma[k]),
            "sigma_percent": None if k is None else float(final.relative[k]),
        }
        if table.truth is not None:
            row["truth"] = float(table.truth[i])
        rows.append(row)
    return rows


def _offsets(run: Run) -> dict[str, dict[str, float]] | None:
    """Return the offsets of the forces, if they were estimated."""
    errors = run.final.errors
    if errors is None or not errors.sigma_offset.any():
        return None
    rows = zip(run.final.channels, errors.offset, errors.sigma_offset, strict=True)
    return {name: {"value": float(x), "sigma": float(s)} for name, x, s in rows}


def show(found: dict[str, Any]) -> None:
    """Print a run for a reader."""
    pairs = [
        ("model", found["model"]),
        ("samples", str(found["samples"])),
        ("base parameters", str(found["base_parameters"])),
    ]
    for word in ("estimate", "reduced"):
        if word in found:
            e = found[word]
            size = f"{e['parameters']} parameters, condition {e['condition']:.3g}"
            pairs.append((word, f"{e['method']}, {size}"))
    pairs += [("known", word) for word in found["known"]]
    if "reduction" in found:
        r = found["reduction"]
        pairs.append(("reduction", f"by {r['rule']} to {r['size']}: {r['why']}"))
    if found["friction"]:
        pairs.append(("friction", _friction_words(found["friction"])))
    if "full" in found:
        pairs.append(("all parameters", _full_words(found["full"])))
    print_pairs(pairs)
    typer.echo("")
    show_parameters(found["parameters"])
    if found["offsets"]:
        typer.echo("")
        print_table(
            ("force", "offset", "σ"),
            [(n, _number(o["value"]), _number(o["sigma"])) for n, o in found["offsets"].items()],
        )
    typer.echo("")
    show_validation(found["validation"])
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    print_notes([f"{d['text']}; {d['remedy']}" for d in found["diagnosis"]], "diagnosis")
    for path in found["output"]:
        typer.echo(f"wrote {path}")


def _friction_words(friction: dict[str, Any]) -> str:
    """Say which shapes of friction were added, and what they are worth."""
    if not friction["shapes"]:
        return "nothing added: no shape predicts held-out blocks better"
    change = f"held-out error {friction['before']:.3g} → {friction['after']:.3g} of the residuals"
    return f"added: {'; '.join(friction['shapes'])} ({change})"


def _full_words(full: dict[str, Any]) -> str:
    """Say how far all parameters are from the base values."""
    if full["distance"]:
        words = (
            f"base values {full['distance']:.2g} standard deviations away (the nearest possible)"
        )
    else:
        words = f"base values the same to {full['difference']:.1g}"
    return f"{full['parameters']}, physically consistent, {words}: full.json"


def show_parameters(rows: Sequence[dict[str, Any]]) -> None:
    """Print a table of parameters."""
    truth = any("truth" in row for row in rows)
    titles = ["parameter", "unit", "CAD", "value", "σ", "σ %", *(["truth"] if truth else [])]
    keys = ["cad", "value", "sigma", "sigma_percent", *(["truth"] if truth else [])]
    print_table(titles, [[r["name"], r["unit"], *(_number(r[k]) for k in keys)] for r in rows])


def show_validation(rows: Sequence[dict[str, Any]]) -> None:
    """Print E_p in percent: a row per motion and force, a column per model with its size."""
    models = {row["model"]: row["size"] for row in rows}
    by = {(row["motion"], row["model"]): row for row in rows}
    lines = []
    for motion in dict.fromkeys(row["motion"] for row in rows):
        found = [by[motion, model] for model in models]
        lines.append((motion, "sum", *(_percent(row["total"]) for row in found)))
        for name in found[0]["forces"]:
            values = (_percent(row["forces"][name]["E_p"]) for row in found)
            lines.append((motion, name, *values))
    sizes = [f"{model} ({size})" if size else model for model, size in models.items()]
    print_table(("E_p, %", "force", *sizes), lines)


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return "" if value is None or value != value else f"{100 * value:.3g}"
