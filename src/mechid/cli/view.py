"""`mechid view`: a page with the moving mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Model, load_model, print_notes, solve_file
from mechid.outputs import check_outputs


def view(
    model: Model,
    motion: Annotated[
        Path | None,
        typer.Option(
            "--motion", "-m", help="Table or trajectory with the motion; default: a tour."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Page to write; default: NAME.html.")
    ] = None,
    trace: Annotated[
        list[str] | None,
        typer.Option("--trace", "-t", metavar="BODY.POINT", help="Draw the path of this point."),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    force: Force = False,
) -> None:
    """Write one HTML page that shows the mechanism moving; it needs no network.

    Without a motion, the independent coordinates are swept one after the other and then together,
    within the limits of the joints.
    """
    from mechid.tables import limit_notes
    from mechid.view import tour, write_page

    check_outputs(output, force=force, inputs=[model, motion])
    ready = load_model(model)
    path = output or Path(f"{ready.mechanism.name}.html")
    check_outputs(path, force=force, inputs=[model, motion])
    notes: tuple[str, ...]
    if motion is None:
        moved, notes = tour(ready), ("the motion is a tour through the independent coordinates",)
    else:
        table, moved = solve_file(ready, motion)
        notes = (*table.notes, *limit_notes(moved))
    write_page(ready.mechanism, path, moved, trace or ())
    print_notes(notes)
    typer.echo(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
    if open_page:
        typer.launch(path.resolve().as_uri())
