"""`mechid validate`: an identified model on motions that it has not seen."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mechid.cli.common import Json, print_json, print_notes, print_table
from mechid.cli.measured import Cutoff, Decimation, Map, Period
from mechid.cli.predict import RunArgument
from mechid.cli.run_report import show_validation


def validate(
    run: RunArgument,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA…", help="Measurements, one file, or FILE@FROM:TO, per motion."
        ),
    ],
    mapping: Map = None,
    period: Period = None,
    cutoff: Cutoff = None,
    decimation: Decimation = None,
    add: Annotated[bool, typer.Option("--add", help="Keep the result in the run.")] = False,
    json: Json = False,
) -> None:
    """Compare measured forces with those that a run predicts: CAD values, estimate, reduced model.

    E_p is |predicted - measured| / |measured| of each force, and their sum.
    """
    from mechid.options import to_words
    from mechid.tasks.validate import validate as work

    found = work(
        run, data, mapping=mapping, period=period, cutoff=cutoff, decimation=decimation, add=add
    )
    motions = [m for m in found.run.motions if m.name in found.motions]
    result = {
        "model": found.run.mechanism.name,
        "motions": {m.name: m.source for m in motions},
        "validation": to_words(found.rows),
        "diagnosis": to_words(found.diagnosis),
        "notes": list(dict.fromkeys(note for m in motions for note in m.notes)),
        "warnings": list(dict.fromkeys(w for m in motions for w in m.warnings)),
        "output": [str(run)] if add else [],
    }
    if json:
        print_json(result)
    else:
        _show(result)


def _show(found: dict[str, Any]) -> None:
    for name, source in found["motions"].items():
        typer.echo(f"{name}: {source}")
    typer.echo("")
    show_validation(found["validation"])
    typer.echo("")
    last = found["validation"][-1]["model"]
    print_table(
        ("motion", "force", "R²", "absolute", "within 95 %", "white"),
        [
            (row["motion"], name, _word(f["r2"], ".4f"), _word(f["absolute"], ".1%"),
             _word(f["coverage"], ".1%"), _word(f["white"], ".2g"))
            for row in found["validation"] if row["model"] == last
            for name, f in row["forces"].items()
        ],
    )  # fmt: skip
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    print_notes([f"{d['text']}; {d['remedy']}" for d in found["diagnosis"]], "diagnosis")
    for path in found["output"]:
        typer.echo(f"wrote {path}")


def _word(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"
