"""`mechid reduce`: fewer parameters, for a run that is there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mechid.cli.common import Json, command_line
from mechid.cli.identify import print_run, watched
from mechid.cli.measured import Rest, Size, reduce_options
from mechid.cli.predict import RunArgument

if TYPE_CHECKING:
    from mechid.runs.record import About, Run
    from mechid.tasks.reduce import ReduceOptions


def reduce(
    context: typer.Context,
    run: RunArgument,
    by: Annotated[
        str, typer.Option(help="Order of elimination: contribution, deviation or greedy.")
    ] = "contribution",
    size: Size = "auto",
    rest: Rest = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of a new run; without it, results are shown."),
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="End then, with the sizes that are done.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    json: Json = False,
) -> None:
    """Reduce the model of a run: eliminate parameters that forces hardly show.

    Data, base set and estimator are those of the run, which stays as it is. Ctrl-C ends with the
    sizes that are done.
    """
    from mechid.runs.folder import load_run, save_run
    from mechid.tasks.rerun import reduce_run

    how = reduce_options(by, size, rest)
    assert how is not None
    before = load_run(run)
    about = _about(before, how, command_line(context))
    with watched(max_seconds) as (watch, stop):
        after = reduce_run(before, how, about, watch=watch, stop=stop)
    if output is not None:
        save_run(after, output, force=force)
    print_run(after, [] if output is None else [str(output)], json)


def _about(run: Run, how: ReduceOptions, command: str) -> About:
    from dataclasses import asdict, replace

    from mechid.runs.record import library_versions

    return replace(
        run.about,
        command=command,
        options={**run.about.options, "reduce": asdict(how)},
        versions=library_versions(),
    )
