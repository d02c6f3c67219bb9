"""`mechid reduce`: fewer parameters, for a run that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Json, command_line
from mechid.cli.identify import print_run, reduce_options, watched
from mechid.cli.measured import Details, Force, Rest, Size
from mechid.cli.predict import RunArgument


def reduce(
    context: typer.Context,
    run: RunArgument,
    by: Annotated[
        str,
        typer.Option(
            help="Order of elimination: contribution, stacked-contribution, deviation "
            "(relative standard deviation) or greedy."
        ),
    ] = "contribution",
    size: Size = None,
    rest: Rest = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of a new run; without it, results are shown."),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Stop after this time, with the sizes so far.")
    ] = None,
    force: Force = False,
    details: Details = False,
    json: Json = False,
) -> None:
    """Reduce the model of a run: eliminate parameters that forces hardly show.

    Data, base set and estimator are those of the run, which stays as it is. Ctrl-C ends with the
    sizes that are done.
    """
    from mechid.options import ReduceOptions
    from mechid.tasks.reduce import reduce as work

    with watched(max_seconds) as (watch, stop):
        after = work(
            run,
            reduce_options(by, size, rest) or ReduceOptions(),
            folder=output,
            force=force,
            command=command_line(context),
            watch=watch,
            stop=stop,
        )
    print_run(after, [] if output is None else [str(output)], json, details)
