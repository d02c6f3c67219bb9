"""`mechid export`: a model, or what was identified, for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, print_json, print_notes


def export(
    source: Annotated[
        str,
        typer.Argument(metavar="RUN|MODEL", help="Folder of `mechid identify`, or a model."),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            help="urdf, mjcf, c, python, matlab, fmu, model, tables (CSV), xlsx or latex; "
            "default: as the suffix of FILE."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: print it.")
    ] = None,
    allow_loss: Annotated[
        bool, typer.Option("--allow-loss", help="Leave out what the format cannot hold.")
    ] = False,
    measured: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="c, python, matlab: quantities that are measured instead of the coordinates, "
            "such as 'elbow,rod.P.z'.",
        ),
    ] = "",
    fmi: Annotated[
        str | None, typer.Option(metavar="2|3", help="Version of an FMU; default: 2.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="simulation|inverse",
            help="What an FMU does: motion from forces (default), or forces from motion.",
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a model, or the identified model of a run, for other tools.

    Of a run: a physically consistent set of all parameters, with the identified base parameters
    and nearest to CAD. Comments, or columns, say how certain each value is. What a format cannot
    hold is rejected by name; with --allow-loss it is left out and listed.
    """
    from mechid.errors import DataError
    from mechid.tasks.export import export as work

    names = tuple(x.strip() for x in measured.split(",") if x.strip())
    found = work(
        source,
        to,
        output,
        allow_loss=allow_loss,
        force=force,
        measured=names,
        fmi=fmi,
        kind=kind,
    )
    if json:
        print_json(
            {
                "target": found.target,
                "size": len(found.data),
                "notes": list(found.notes),
                "left_out": list(found.left_out),
                "output": list(found.paths),
            }
        )
        return
    if output is None:
        if found.data[:2] == b"PK":
            raise DataError(f"{found.target} is no text", remedy="give a file, -o FILE")
        typer.echo(found.text, nl=False)
        return
    print_notes(found.notes)
    print_notes(found.left_out, "left out")
    typer.echo(f"wrote {', '.join(found.paths)}")
