"""`mechid report`: one page that tells what a run used, did and found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force
from mechid.cli.predict import RunArgument
from mechid.outputs import check_outputs


def report(
    run: RunArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Page to write; default: RUN/report.html.")
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove the number of base parameters.")
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    force: Force = False,
) -> None:
    """Write one HTML page about a run; it needs no network.

    The mechanism moving along the measured motion, base parameters with their formulas, measured
    and predicted forces with intervals, all parameters with their uncertainty, the reduction, the
    validation, warnings in plain words, and how to repeat the run.
    """
    from mechid.report import write_report

    check_outputs(output or run / "report.html", force=force)
    path = write_report(run, output or run / "report.html", certify=certify)
    typer.echo(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
    if open_page:
        typer.launch(path.resolve().as_uri())
