"""`mechid identify`: measurements in, a model with uncertainty out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mechid.cli.base import base_rule
from mechid.cli.common import Json, Model, command_line, load_model, print_json
from mechid.cli.run_report import report, show
from mechid.errors import DataError

if TYPE_CHECKING:
    from mechid.base.analyse import Rule
    from mechid.kinematics.model import KinematicModel
    from mechid.mechanism.records import Mechanism
    from mechid.runs.record import DataFile, MotionData
    from mechid.runs.truth import Truth


def identify(
    model: Model,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Table with time, coordinates and forces.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the run to.")],
    base: Annotated[
        str | None,
        typer.Option(
            help="Base set: a name of the model file, a .yaml file with `dependent`, or first, "
            "last, terms, condition as for `mechid base --rank-by`.",
            show_default="last",
        ),
    ] = None,
    converge_on: Annotated[str | None, typer.Option(help="As for `mechid base`.")] = None,
    estimator: Annotated[str, typer.Option(help="ols.")] = "ols",
    validate: Annotated[
        list[Path] | None,
        typer.Option(help="Data of another motion to try the model on; may be repeated."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="Truth of synthetic data.", show_default="DATA.truth.json, if there"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    json: Json = False,
) -> None:
    """Identify the base parameters of a mechanism from measured positions and forces.

    The run is a folder with everything needed to repeat it: model, data, options, versions and
    results. Stages are written as they are completed; a run that is stopped keeps what it has.
    """
    from mechid.runs.folder import RunFolder
    from mechid.runs.record import About, library_versions
    from mechid.tasks.identify import Options
    from mechid.tasks.identify import identify as work

    ready = load_model(model)
    mechanism = ready.mechanism
    rule = chosen_rule(ready, base, converge_on, seed)
    motions = [read_data(data, mechanism, "identification")]
    for k, path in enumerate(validate or [], start=1):
        motions.append(read_data(path, mechanism, f"validation-{k}"))
    known, files = found_truth(truth, data)
    about = About(
        command_line(),
        model,
        {"base": base or "last", "converge_on": converge_on, "estimator": estimator},
        seed,
        (*data_files(motions), *files),
        library_versions(),
    )
    folder = RunFolder.create(output, force=force)
    run = work(
        mechanism,
        motions,
        Options(estimator, seed),
        rule=rule,
        truth=known,
        about=about,
        keep=folder.keep,
    )
    result = report(run) | {"output": [str(output)]}
    if json:
        print_json(result)
    else:
        show(result)


def chosen_rule(
    ready: KinematicModel, base: str | None, converge_on: str | None, seed: int
) -> Rule:
    """Return the rule of --base: a set of the model file, one of a file, or a word."""
    from functools import partial

    from mechid.base.choose import as_listed
    from mechid.cli.base import RankBy
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


def read_data(path: Path, mechanism: Mechanism, name: str) -> MotionData:
    """Read and prepare a measurement."""
    from mechid.runs.record import MotionData
    from mechid.tables.forces import read_forces
    from mechid.tables.motion import read_motion

    moved = read_motion(path, mechanism)
    forces = read_forces(path, mechanism)
    names = tuple(c.force for c in mechanism.coordinates)
    return MotionData(
        name, str(path), moved.time, moved.y, moved.yd, moved.ydd, names, forces.tau, moved.notes
    )


def found_truth(given: Path | None, data: Path) -> tuple[Truth | None, list[DataFile]]:
    """Return the truth of synthetic data, if there is one, and its file."""
    from mechid.runs.files import file_hash
    from mechid.runs.record import DataFile
    from mechid.runs.truth import read_truth, truth_path

    path = given or truth_path(data)
    if given is None and not path.is_file():
        return None, []
    return read_truth(path), [DataFile(str(path), file_hash(path), "truth")]


def data_files(motions: list[MotionData]) -> list[DataFile]:
    """Return names and hashes of the measured files."""
    from mechid.runs.files import file_hash
    from mechid.runs.record import DataFile

    return [DataFile(m.source, file_hash(m.source), m.name) for m in motions]
