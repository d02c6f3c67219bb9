"""`mechid excite`: design a motion that shows the parameters, or evaluate one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.common import Json, Model, print_json
from mechid.cli.excite_options import FILES, OPTIONS, SEARCH, check_files, limits_of, words_of
from mechid.cli.excite_report import evaluation_report, report, show, write_motion
from mechid.cli.record_options import record_options
from mechid.errors import DataError
from mechid.options import ExciteOptions
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.tasks.excite import DesignedMotion


@record_options(ExciteOptions, OPTIONS)
def excite(
    model: Model,
    limits: Annotated[
        Path | None,
        typer.Option(
            help="YAML file with limits; default: those of the joints, about the home pose, and "
            "usual speeds, accelerations and forces.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    start: Annotated[
        Path | None, typer.Option(help="Trajectory file to start from.", rich_help_panel=SEARCH)
    ] = None,
    evaluate: Annotated[
        Path | None,
        typer.Option(
            help="Evaluate this trajectory file instead of designing one.", rich_help_panel=FILES
        ),
    ] = None,
    sampling: Annotated[
        bool,
        typer.Option(
            "--sampling",
            help="With --evaluate: how the criterion changes with samples and periods.",
            rich_help_panel=FILES,
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Trajectory file to write, .yaml.", rich_help_panel=FILES
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="Table for a controller or a shaker: .csv or .parquet.", rich_help_panel=FILES
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Samples per second of that table.", rich_help_panel=FILES),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=FILES)
    ] = False,
    json: Json = False,
    **words: Any,
) -> None:
    """Design a motion within limits that makes the base parameters as visible as it can.

    Random motions come first, then gradient steps from the best of them. Ctrl-C ends with the best
    so far. Limits are those of the file, or those of the joints, a neighbourhood of the home pose,
    and usual speeds, accelerations and forces; they hold on a grid twenty times as fine as the
    samples. A motion that does not close is never returned.
    """
    if evaluate is not None and (start is not None or words["fixed"]):
        raise DataError(
            "an evaluated motion must be given completely", remedy="omit --start and --fix"
        )
    if sampling and evaluate is None:
        raise DataError("--sampling needs a given motion", remedy="add --evaluate FILE")
    check_files(evaluate, output, table, rate)
    check_outputs(output, table, force=force, inputs=[model, limits, start])
    options = words_of(words)
    if evaluate is not None:
        result = _evaluated(model, evaluate, limits, sampling, options)
    else:
        designed = _designed(model, limits, start, options)
        result = report(designed) | {"output": write_motion(designed, output, table, rate)}
    if json:
        print_json(result)
    else:
        show(result)


def _evaluated(
    model: str, path: Path, limits: Path | None, sampling: bool, options: ExciteOptions
) -> dict[str, Any]:
    """Return what `excite --evaluate` says, ready for JSON."""
    from mechid.tasks.criteria import checked_options
    from mechid.tasks.evaluate_motion import evaluate_motion, sampling_of_motion
    from mechid.tasks.inputs import mechanism_of

    options = checked_options(options)
    mechanism = mechanism_of(model)
    found = evaluate_motion(mechanism, path, options, limits=limits_of(limits, mechanism))
    rows = sampling_of_motion(mechanism, path, options) if sampling else None
    return evaluation_report(mechanism.name, found, limits is not None, options.criterion, rows)


def _designed(
    model: str, limits: Path | None, start: Path | None, options: ExciteOptions
) -> DesignedMotion:
    import numpy as np

    from mechid.cli.progress import interruptible, progress
    from mechid.tasks.excite import excite as work

    total = options.random + options.starts * options.iterations
    with interruptible() as interrupt, progress("designing", total) as shown:
        done = 0

        def watch(stage: str, step: int, best: float) -> None:
            nonlocal done
            done += 1
            shown(done, best if options.criterion == "d" else float(np.exp(best)))

        return work(
            model, options, limits=limits, start=start, watch=watch, stop=lambda: interrupt.asked
        )
