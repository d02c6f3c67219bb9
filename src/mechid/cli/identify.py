"""`mechid identify`: measurements in, a model with uncertainty out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.base import RankBy, base_rule
from mechid.cli.common import Json, Model, command_line, load_model, print_json
from mechid.cli.measured import (
    CadError,
    Cutoff,
    Data,
    Decimation,
    Estimator,
    Map,
    Noise,
    Offsets,
    Period,
    Reduce,
    Rest,
    Setting,
    Size,
    Symmetric,
    Weigh,
    data_files,
    declared_noise,
    found_truth,
    measured_constraints,
    read_data,
    reduce_options,
)
from mechid.cli.parse_values import named, share
from mechid.cli.run_report import report, show
from mechid.errors import DataError

if TYPE_CHECKING:
    from mechid.base.analyse import Rule
    from mechid.kinematics.model import KinematicModel
    from mechid.mechanism.records import Mechanism
    from mechid.runs.record import Run
    from mechid.tasks.identify import Options
    from mechid.tasks.measured_constraints import MeasuredConstraints


def identify(
    context: typer.Context,
    model: Model,
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the run to.")],
    mapping: Map = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="Base set: a name of the model file, a .yaml file with `dependent`, or first, "
            "last, terms, condition as for `mechid base --rank-by`.",
            show_default="last",
        ),
    ] = None,
    converge_on: Annotated[str | None, typer.Option(help="As for `mechid base`.")] = None,
    estimator: Estimator = None,
    setting: Setting = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="Of auto and map: cad (errors of base parameters independent), full (as CAD "
            "declares them), none.",
            show_default="cad",
        ),
    ] = None,
    offsets: Offsets = False,
    cad_error: CadError = None,
    noise: Noise = None,
    weigh: Weigh = None,
    symmetric: Symmetric = None,
    reduce: Reduce = None,
    size: Size = "auto",
    rest: Rest = None,
    validate: Annotated[
        list[str] | None,
        typer.Option(
            help="Data of another motion, or FILE@FROM:TO, to try the model on; may be repeated."
        ),
    ] = None,
    period: Period = None,
    cutoff: Cutoff = None,
    decimation: Decimation = None,
    instruments: Annotated[
        str | None,
        typer.Option(help="Second measurement of the same motion, for --estimator iv."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="Truth of synthetic data.", show_default="DATA.truth.json, if there"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    max_seconds: Annotated[
        float | None, typer.Option(help="End the reduction then, with the sizes that are done.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    json: Json = False,
) -> None:
    """Identify the base parameters of a mechanism from measured positions and forces.

    The run is a folder with everything needed to repeat it: model, data, options, versions and
    results. Stages are written as they are completed; a run that is stopped keeps what it has.
    """
    from mechid.runs.folder import RunFolder
    from mechid.runs.record import About, library_versions
    from mechid.tasks.identify import identify as work

    options = options_of(estimator, setting, prior, offsets, cad_error, noise, reduce, size, rest)
    ready = load_model(model)
    options = replace(
        options, measured=checked_constraints(weigh, symmetric, options, ready.mechanism)
    )
    rule = chosen_rule(ready, base, converge_on, seed)
    how: dict[str, Any] = {"period": period, "cutoff": cutoff, "decimation": decimation}
    motions = [read_data(data, ready.mechanism, "identification", mapping, **how)]
    for k, path in enumerate(validate or [], start=1):
        motions.append(read_data(path, ready.mechanism, f"validation-{k}", mapping, **how))
    second = None
    if instruments is not None:
        second = read_data(instruments, ready.mechanism, "instruments", mapping, **how)
    known, files = found_truth(truth, data)
    words = {"base": base or "last", "converge_on": converge_on, **asdict(options), **how}
    about = About(
        command_line(context),
        model,
        words,
        seed,
        (*data_files([*motions, *([second] if second else [])], mapping), *files),
        library_versions(),
    )
    folder = RunFolder.create(output, force=force)
    with watched(max_seconds) as (watch, stop):
        run = work(
            ready.mechanism,
            motions,
            options,
            rule=rule,
            instruments=second,
            truth=known,
            about=about,
            keep=folder.keep,
            watch=watch,
            stop=stop,
        )
    print_run(run, [str(output)], json)


def print_run(run: Run, written: list[str], json: bool) -> None:
    """Print what a run found."""
    result = report(run) | {"output": written}
    if json:
        print_json(result)
    else:
        show(result)


def options_of(
    estimator: str | None,
    setting: list[str] | None,
    prior: str | None,
    offsets: bool,
    cad_error: str | None,
    noise: list[str] | None,
    reduce: str | None,
    size: str,
    rest: str | None,
) -> Options:
    """Return what the options of an identification say, or refuse what makes no sense."""
    from mechid.tasks.estimators import DEFAULT, estimator_of
    from mechid.tasks.identify import Options

    # Models of the noise are compared by how probable they are, which takes a prior.
    name = estimator or ("map" if prior == "none" else DEFAULT)
    settings: dict[str, Any] = named(setting or [], "--set", "whiten=true")
    if prior is not None:
        kinds = {"cad": "diagonal", "full": "full", "none": "none"}
        if prior not in kinds:
            raise DataError(f"there is no prior {prior}", remedy=f"use {', '.join(kinds)}")
        settings["prior"] = kinds[prior]
    if offsets:
        settings.setdefault("offsets", "estimated")
    estimator_of(name, settings)
    error = None if cad_error is None else share(cad_error, "--cad-error")
    if error is not None and not 0 < error < float("inf"):
        raise DataError(f"--cad-error is {error:g}", remedy="give a positive share, as 20%")
    return Options(name, settings, error, declared_noise(noise), reduce_options(reduce, size, rest))


def checked_constraints(
    weigh: list[str] | None, symmetric: str | None, options: Options, mechanism: Mechanism
) -> MeasuredConstraints:
    """Return what --weigh and --symmetric say, or refuse what makes no sense."""
    from mechid.tasks.estimators import estimator_of, uses_cad
    from mechid.tasks.measured_constraints import check_constraints

    measured = measured_constraints(weigh, symmetric)
    check_constraints(measured, mechanism)
    if measured and not uses_cad(estimator_of(options.estimator, options.settings)):
        raise DataError(
            "--weigh and --symmetric count together with CAD values, and this estimator uses none",
            remedy="use --estimator auto, map or physical, with a prior",
        )
    return measured


@contextmanager
def watched(
    max_seconds: float | None,
) -> Iterator[tuple[Callable[[str, int, float], None], Callable[[], bool]]]:
    """Give functions that show progress and that tell when to stop: Ctrl-C, or the time is up."""
    from mechid.cli.progress import interruptible, steps

    with interruptible(max_seconds) as interrupt, steps() as watch:
        yield watch, lambda: interrupt.asked


def chosen_rule(
    ready: KinematicModel, base: str | None, converge_on: str | None, seed: int
) -> Rule:
    """Return the rule of --base: a set of the model file, one of a file, or a word."""
    from functools import partial

    from mechid.base.choose import as_listed
    from mechid.modelfile.base_sets import read_base_set

    if base is None or converge_on is not None:
        if base is not None:
            raise DataError("--base and --converge-on exclude each other", remedy="use one of them")
        return base_rule(ready, converge_on, None, None, seed)
    sets = [s.name for s in ready.mechanism.base_sets]
    if base in sets:
        return base_rule(ready, None, base, None, seed)
    if base in [word.value for word in RankBy]:
        return base_rule(ready, None, None, RankBy(base), seed)
    if Path(base).suffix.lower() in (".yaml", ".yml"):
        return partial(as_listed, names=read_base_set(base).dependent)
    words = [*sets, *(word.value for word in RankBy)]
    raise DataError(
        f"there is no base set {base}", remedy=f"use a .yaml file, or one of {', '.join(words)}"
    )
