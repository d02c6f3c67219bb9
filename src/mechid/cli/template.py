"""`mechid template`: a model file and the spreadsheet to fill in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, print_json, print_table


def template(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A template, or any model.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write; default: the name.")
    ] = None,
    mirror: Annotated[
        bool, typer.Option("--mirror", help="Both sides; the right one mirrors the left one.")
    ] = False,
    length: Annotated[str, typer.Option(help="Unit of lengths in the table.")] = "mm",
    mass: Annotated[str, typer.Option(help="Unit of masses in the table.")] = "kg",
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a model file and the spreadsheet of its points and masses to fill in; or list them.

    The folder gets model.yaml, hardpoints.csv and, with openpyxl, hardpoints.xlsx. `mechid fill`
    puts model and table together.
    """
    from mechid.importing.template import template as write_template
    from mechid.importing.template import templates

    if name is None:
        found = templates()
        if json:
            print_json([{"name": t.name, "title": t.title, "sides": t.sides} for t in found])
        else:
            rows = [(t.name, t.title, "yes" if t.sides else "") for t in found]
            print_table(("name", "title", "--mirror"), rows)
        return
    folder = output or Path(Path(name).stem)
    files = write_template(name, folder, mirror=mirror, length=length, mass=mass, force=force)
    if json:
        print_json({"files": [str(file) for file in files]})
        return
    for file in files:
        typer.echo(f"wrote {file}")
    if not any(file.suffix == ".xlsx" for file in files):
        typer.echo('note: for an Excel workbook: pip install "mechid[xlsx]"')
