"""`mechid identify`: measurements in, a model with uncertainty out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mechid.cli.common import Json, Model, command_line, print_json
from mechid.cli.measured import (
    Base,
    CadError,
    ConvergeOn,
    Cutoff,
    Decimation,
    Details,
    Estimator,
    Force,
    Friction,
    Hardpoints,
    Logs,
    Map,
    Noise,
    Only,
    Period,
    Reduce,
    Rest,
    Seed,
    Setting,
    Size,
    Standstill,
    Symmetric,
    Usual,
    Weigh,
    Without,
)
from mechid.cli.record_options import given
from mechid.cli.run_report import report, show
from mechid.errors import DataError

if TYPE_CHECKING:
    from mechid.options import ReduceOptions
    from mechid.runs.record import Run


def identify(
    context: typer.Context,
    model: Model,
    data: Logs,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the run to.")],
    mapping: Map = None,
    base: Base = None,
    converge_on: ConvergeOn = None,
    estimator: Estimator = None,
    setting: Setting = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="Of map: full (errors of CAD values as they are declared), diagonal "
            "(errors of base parameters independent), none (the estimator is map then).",
            show_default="full",
        ),
    ] = None,
    without: Without = None,
    only: Only = None,
    usual: Usual = None,
    cad_error: CadError = None,
    noise: Noise = None,
    hardpoints: Hardpoints = None,
    weigh: Weigh = None,
    symmetric: Symmetric = None,
    reduce: Reduce = None,
    size: Size = None,
    rest: Rest = None,
    validate: Annotated[
        list[str] | None,
        typer.Option(
            help="Data of another motion, or FILE@FROM:TO, to validate the model on; may "
            "be repeated."
        ),
    ] = None,
    period: Period = None,
    cutoff: Cutoff = None,
    decimation: Decimation = None,
    instruments: Annotated[
        list[str] | None,
        typer.Option(
            help="Second measurement of the same motion, for --estimator iv; of several logs in "
            "their order, repeated.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="Truth of synthetic data.", show_default="LOG.truth.json, if there"),
    ] = None,
    friction: Friction = None,
    standstill: Standstill = None,
    seed: Seed = 0,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Stop the reduction after this time, with the sizes so far."),
    ] = None,
    force: Force = False,
    details: Details = False,
    json: Json = False,
) -> None:
    """Identify the base parameters of a mechanism from measured positions and forces.

    With several logs, each is also predicted by the model identified from the others.

    The run is a folder with everything needed to repeat it: model, data, options, versions and
    results. Stages are written as they are completed; a run that is stopped keeps what it has.
    """
    from mechid.tasks.identify import identify as work
    from mechid.textfile.numbers import named

    settings = named(setting or [], "--set", "whiten=true")
    of_estimator = {"without": without, "only": only, "usual": usual, "prior": prior}
    for name, option in of_estimator.items():
        if option and name in settings:
            raise DataError(
                f"--{name} and --set {name}={settings[name]} are given", remedy="give one of them"
            )
    words = given(
        settings=settings,
        base=base, converge_on=converge_on, estimator=estimator, **of_estimator,
        cad_error=cad_error, noise=noise, hardpoints=hardpoints, weigh=weigh, symmetric=symmetric,
        period=period, cutoff=cutoff, decimation=decimation, friction=friction,
        standstill=standstill, seed=seed, reduce=reduce_options(reduce, size, rest),
    )  # fmt: skip
    with watched(max_seconds) as (watch, stop):
        run = work(
            model,
            data,
            validate=validate or (),
            instruments=instruments,
            mapping=mapping,
            truth=truth,
            folder=output,
            force=force,
            command=command_line(context),
            watch=watch,
            stop=stop,
            **words,
        )
    print_run(run, [str(output)], json, details)


def reduce_options(by: str | None, size: str | None, rest: str | None) -> ReduceOptions | None:
    """Return what --reduce (or --by), --size and --rest say."""
    from mechid.options import ReduceOptions, changed

    if by is None:
        if size is not None or rest is not None:
            raise DataError(
                "--size and --rest belong to a reduction", remedy="add --reduce contribution"
            )
        return None
    return changed(ReduceOptions(), given(by=by, size=size, rest=rest))


def print_run(run: Run, written: list[str], json: bool, details: bool = False) -> None:
    """Print what a run found."""
    result = report(run) | {"output": written}
    if json:
        print_json(result)
    else:
        show(result, details)


@contextmanager
def watched(
    max_seconds: float | None,
) -> Iterator[tuple[Callable[[str, int, float], None], Callable[[], bool]]]:
    """Give functions that show progress and that tell when to stop: Ctrl-C, or the time is up."""
    from mechid.cli.progress import interruptible, steps

    with interruptible(max_seconds) as interrupt, steps() as watch:
        yield watch, lambda: interrupt.asked
