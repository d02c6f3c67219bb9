"""`mechid studio`: a page to model, measure, excite and identify by hand and eye."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Json


def studio(
    path: Annotated[
        Path, typer.Argument(metavar="[FOLDER|MODEL|RUN]", help="What to open; default: here.")
    ] = Path(),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the server; 0: one that is free.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Dask scheduler for studies, as tcp://host:8786.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Open a local page for one folder: models, measurements, motions, runs.

    The page is for this machine and for the browser that opens the printed address; it reads and
    writes files of the folder only. What it computes are the commands of this tool, in processes
    of their own: they go on when the page or the server is closed. Ctrl-C ends the server.
    """
    from mechid.studio.serve import serve_studio

    def started(address: str) -> None:
        if json:
            import json as json_text

            typer.echo(json_text.dumps({"address": address}))
        else:
            typer.echo(f"studio of {path.resolve()}\n  {address}\nCtrl-C ends it; jobs go on.")
        if browser:
            typer.launch(address)

    serve_studio(path, port=port, scheduler=scheduler, started=started)
