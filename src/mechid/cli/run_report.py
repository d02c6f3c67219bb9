"""What commands say of a run: for JSON, and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mechid.cli.common import print_notes, print_pairs, print_table

if TYPE_CHECKING:
    from mechid.runs.record import Run


def report(run: Run) -> dict[str, Any]:
    """Return everything that a run says, ready for JSON."""
    from mechid.runs.folder import summary

    final = run.final
    at = {name: i for i, name in enumerate(final.parameters)}
    table = run.parameters
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
    return {
        "model": run.mechanism.name,
        "samples": len(run.motions[0].time),
        **summary(run),
        "parameters": rows,
        "stages": list(run.stages),
        "notes": [note for motion in run.motions for note in motion.notes],
        "warnings": list(run.warnings),
    }


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
            pairs.append(
                (
                    word,
                    f"{e['method']}, {e['parameters']} parameters, condition {e['condition']:.3g}",
                )
            )
    print_pairs(pairs)
    typer.echo("")
    truth = found["parameters"] and "truth" in found["parameters"][0]
    titles = ["parameter", "unit", "CAD", "value", "σ", "σ %", *(["truth"] if truth else [])]
    print_table(titles, [_row(row, bool(truth)) for row in found["parameters"]])
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    for path in found["output"]:
        typer.echo(f"wrote {path}")


def _row(row: dict[str, Any], truth: bool) -> list[str]:
    numbers = [row["cad"], row["value"], row["sigma"], row["sigma_percent"]]
    cells = [row["name"], row["unit"], *("" if x is None else f"{x:.4g}" for x in numbers)]
    return [*cells, f"{row['truth']:.4g}"] if truth else cells
