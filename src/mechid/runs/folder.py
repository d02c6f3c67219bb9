"""A run as a folder, written stage by stage.

    run.json                   where the run comes from, which stages are complete, a summary
    model.yaml                 the model as it was used
    parameters.parquet         base parameters: expressions, CAD values, values, sigma, truth
    estimate.json              method, noise, condition, warnings, …; reduced.json likewise
    estimate.covariance.parquet, estimate.residuals.parquet
    contributions.parquet      of each parameter to the forces, percent
    reduction.json, reduction.parquet, ranking.parquet      the reduced model's size and curves
    motions/NAME.parquet       prepared measurements
    forces/NAME.parquet        measured and predicted forces
    validation.json            one entry per model and motion
    logs.json                  of several logs: each predicted from the others, estimates of each

Every file is written whole, and run.json after the files of its stage, so that a run that was
stopped is readable as far as it came.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mechid.errors import DataError
from mechid.modelfile.api import dumps, load
from mechid.options import IdentifyOptions, from_words, to_words
from mechid.runs.estimates import read_estimate, write_estimate
from mechid.runs.files import file_hash, read_json, write_json, write_text
from mechid.runs.full import NAME as FULL
from mechid.runs.full import read_full, write_full
from mechid.runs.logs import NAME as LOGS
from mechid.runs.logs import read_logs, validation_rows, write_logs
from mechid.runs.record import FORMAT_VERSION, STAGES, About, DataFile, Run
from mechid.runs.reductions import (
    read_contribution,
    read_reduction,
    write_contribution,
    write_reduction,
)
from mechid.runs.tables import (
    motion_entry,
    read_forces,
    read_motion,
    read_parameters,
    write_forces,
    write_motion,
    write_parameters,
)


@dataclass(frozen=True)
class RunFolder:
    """A folder that takes the stages of a run as they are completed."""

    path: Path

    @staticmethod
    def create(path: str | Path, *, force: bool = False) -> RunFolder:
        """Make a new folder; one that is there is rejected, or with `force` an old run replaced.

        Raises
        ------
        DataError
            If it exists, or cannot be made.
        """
        path = Path(path)
        if path.exists():
            old = (path / "run.json").is_file()
            empty = path.is_dir() and not any(path.iterdir())
            if not empty and not (old and force):
                what = "the folder holds a run" if old else "this exists and is not a run"
                remedy = "add --force to replace it" if old else "choose another folder"
                raise DataError(what, where=str(path), remedy=remedy)
            shutil.rmtree(path)
        try:
            path.mkdir(parents=True)
        except OSError as error:
            raise DataError(
                f"cannot create the folder: {error.strerror}", where=str(path)
            ) from None
        return RunFolder(path)

    def keep(self, stage: str, run: Run) -> None:
        """Write what a stage has added to a run."""
        _WRITERS[stage](self.path, run)
        write_parameters(self.path, run)
        _write_head(self.path, run)


def save_run(run: Run, path: str | Path, *, force: bool = False) -> None:
    """Write a run into a new folder.

    Parameters
    ----------
    run : Run
    path : str or Path
    force : bool
        Whether a run in that folder is replaced.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("pendulum", random=2, starts=0, harmonics=2)
    >>> log = mechid.synthesise("pendulum", motion, noise="2%", cad_error="10%")
    >>> mechid.save_run(mechid.identify("pendulum", log), "run")
    >>> mechid.load_run("run").stages
    ('data', 'estimate', 'reduction', 'validation')
    """
    folder = RunFolder.create(path, force=force)
    for stage in STAGES:
        if stage in run.stages:
            folder.keep(stage, run)


def load_run(path: str | Path) -> Run:
    """Read a run from its folder, as far as it came.

    Parameters
    ----------
    path : str or Path
        What `identify` or `save_run` wrote.

    Raises
    ------
    DataError
        If this is no run, was written by a later version, or a file is missing.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("pendulum", random=2, starts=0, harmonics=2)
    >>> log = mechid.synthesise("pendulum", motion, noise="2%", cad_error="10%")
    >>> run = mechid.identify("pendulum", log, folder="run")
    >>> mechid.load_run("run").values().tolist() == run.values().tolist()
    True
    """
    folder = Path(path)
    if not (folder / "run.json").is_file():
        raise DataError(
            "this is not a run: run.json is missing", where=str(folder), remedy="mechid identify"
        )
    head = read_json(folder / "run.json")
    if not isinstance(head, dict):
        raise DataError(
            "this is not a run", where=str(folder / "run.json"), remedy="repeat the run"
        )
    if head.get("run") != FORMAT_VERSION:
        again = f": {head['command']}" if head.get("command") else ""
        raise DataError(
            f"the run has format {head.get('run')}, this version reads {FORMAT_VERSION}",
            where=str(folder),
            remedy=f"repeat the run{again}",
        )
    if not (folder / "model.yaml").is_file():
        raise DataError("there is no such file", where=str(folder / "model.yaml"))
    try:
        return _loaded(folder, head)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        words = f"the run was changed or is damaged ({type(error).__name__}: {error})"
        raise DataError(words, where=str(folder), remedy="repeat the run") from None


def _loaded(folder: Path, head: dict[str, Any]) -> Run:
    stages = tuple(head["stages"])
    there = "validation" in stages
    return Run(
        about=About(
            command=head["command"],
            model=head["model"]["name"],
            options=from_words(IdentifyOptions, head["options"]),
            files=tuple(DataFile(**file) for file in head["files"]),
            versions=head["versions"],
        ),
        mechanism=load(folder / "model.yaml"),
        parameters=read_parameters(folder, head),
        motions=tuple(read_motion(folder, m, head["coordinates"]) for m in head["motions"]),
        estimate=read_estimate(folder, "estimate") if "estimate" in stages else None,
        contribution=read_contribution(folder)
        if (folder / "contributions.parquet").exists()
        else None,
        reduction=read_reduction(folder) if (folder / "reduction.json").exists() else None,
        forces=tuple(read_forces(folder, m) for m in head["motions"]) if there else (),
        validation=validation_rows(read_json(folder / "validation.json")) if there else (),
        warnings=tuple(head["warnings"]),
        stages=stages,
        full=read_full(folder) if (folder / FULL).exists() else None,
        n_logs=head.get("n_logs", 1),
        **(read_logs(folder) if (folder / LOGS).exists() else {}),
    )


def _write_head(folder: Path, run: Run) -> None:
    model = folder / "model.yaml"
    head: dict[str, Any] = {
        "run": FORMAT_VERSION,
        "command": run.about.command,
        "model": {
            "name": run.about.model,
            "mechanism": run.mechanism.name,
            "sha256": file_hash(model),
        },
        "options": to_words(run.about.options),
        "files": [asdict(file) for file in run.about.files],
        "versions": run.about.versions,
        "stages": run.stages,
        "dependent": run.parameters.dependent,
        "coordinates": [c.name for c in run.mechanism.coordinates],
        "motions": [motion_entry(m) for m in run.motions],
        "n_logs": run.n_logs,
        "warnings": run.warnings,
        "summary": summary(run),
    }
    write_json(folder / "run.json", head)


def summary(run: Run) -> dict[str, Any]:
    """Return the results in a few numbers, ready for JSON."""
    found: dict[str, Any] = {"base_parameters": len(run.parameters.names)}
    for name, estimate in (("estimate", run.estimate), ("reduced", run.reduced)):
        if estimate is not None:
            size = len(estimate.parameters)
            if name == "reduced" and run.reduction is not None:
                size = run.reduction.size.size  # the others stay at their CAD values
            found[name] = {
                "method": estimate.method,
                "parameters": size,
                "condition": estimate.condition,
                "noise": dict(zip(estimate.channels, estimate.noise.tolist(), strict=True)),
            }
    if run.reduction is not None:
        found["reduction"] = {
            "rule": run.reduction.ranking.rule,
            "size": run.reduction.size.size,
            "why": run.reduction.size.why,
            "rest": run.reduction.rest,
            "chosen": run.reduction.chosen,
        }
    if run.full is not None:
        found["full"] = {
            "parameters": len(run.full.parameters),
            "difference": run.full.difference,
            "distance": run.full.distance,
            "border": run.full.border,
        }
    if run.validation:
        found["validation"] = [
            {key: getattr(row, key) for key in ("motion", "model", "size", "overall", "total")}
            for row in run.validation
        ]
    if run.left_out:
        found["left_out"] = [
            {key: getattr(row, key) for key in ("motion", "model", "size", "overall", "total")}
            for row in run.left_out
        ]
    if run.spread is not None:
        found["spread"] = {"rms": run.spread.rms, "whitened": run.spread.whitened}
    return found


def _write_estimate(folder: Path, run: Run) -> None:
    assert run.estimate is not None
    write_estimate(folder, "estimate", run.estimate)
    if run.contribution is not None:
        write_contribution(folder, run.contribution)


def _write_reduction(folder: Path, run: Run) -> None:
    if run.reduction is not None:
        others = run.others[: run.reduction.curves.validation.shape[1]]
        write_reduction(folder, run.reduction, [m.name for m in others])


def _write_data(folder: Path, run: Run) -> None:
    write_text(folder / "model.yaml", dumps(run.mechanism))
    (folder / "motions").mkdir(exist_ok=True)
    names = [c.name for c in run.mechanism.coordinates]
    for motion in run.motions:
        write_motion(folder, motion, names)


def _write_validation(folder: Path, run: Run) -> None:
    (folder / "forces").mkdir(exist_ok=True)
    for history in run.forces:
        write_forces(folder, history)
    write_json(folder / "validation.json", to_words(run.validation))
    if run.n_logs > 1:
        write_logs(folder, run)
    if run.full is not None:
        write_full(folder, run.full)


_WRITERS = {
    "data": _write_data,
    "estimate": _write_estimate,
    "reduction": _write_reduction,
    "validation": _write_validation,
}
