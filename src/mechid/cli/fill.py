"""`mechid fill`: a model with the points and mass properties of a spreadsheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, Model, print_json, print_notes, print_pairs
from mechid.outputs import check_outputs, write_text


def fill(
    model: Model,
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="Spreadsheet: .csv or .xlsx.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Model file to write.")
    ] = None,
    largest_move: Annotated[
        str,
        typer.Option(
            metavar="LENGTH",
            help="Warn of points that move more than this: m, or % of the size of the model.",
        ),
    ] = "25 %",
    force: Force = False,
    json: Json = False,
) -> None:
    """Put the points and mass properties of a spreadsheet into a model.

    Says what is missing or implausible, with the cell. A number, name or unit that is wrong ends
    with one line, and nothing is written.
    """
    from mechid.importing.fill import fill as fill_model
    from mechid.mechanism.size import characteristic_size

    check_outputs(output, force=force, inputs=[model, table])
    filled = fill_model(model, table, largest_move=largest_move)
    if output is not None:
        write_text(output, filled.text)
    found = {
        "model": filled.mechanism.name,
        "points": list(filled.points),
        "parameters": list(filled.parameters),
        "bodies": list(filled.bodies),
        "kept": list(filled.kept),
        "size": characteristic_size(filled.mechanism),
        "mass": sum(b.inertia.mass for b in filled.mechanism.bodies if b.inertia is not None),
        "notes": list(filled.notes),
        "warnings": list(filled.warnings),
        "output": None if output is None else str(output),
    }
    if json:
        print_json(found)
        return
    print_pairs(
        [
            ("points", str(len(filled.points))),
            ("parameters", str(len(filled.parameters))),
            ("bodies", str(len(filled.bodies))),
            ("size", f"{found['size']:.4g} m"),
            ("mass", f"{found['mass']:.4g} kg"),
        ]
    )
    print_notes(filled.notes)
    print_notes(filled.warnings, "warning")
    if output is not None:
        typer.echo(f"wrote {output}")
