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
stopped is readable as far as it came. A run that replaces another is written into a folder of its
own inside, and its files are moved at the end: until then the old run is as it was.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mechid.dynamics.columns import element_terms, inertial_columns
from mechid.errors import DataError
from mechid.estimation.estimate import Finding
from mechid.modelfile.api import dumps, load
from mechid.options import IdentifyOptions, from_words, to_words
from mechid.outputs import (
    is_left_over,
    make_folder,
    place_beside,
    real_path,
    remove_left_over,
    write_text,
)
from mechid.runs.estimates import read_estimate, write_estimate
from mechid.runs.files import file_hash, read_json, write_json
from mechid.runs.full import NAME as FULL
from mechid.runs.full import read_full, write_full
from mechid.runs.lock import NAME as LOCK
from mechid.runs.lock import locked
from mechid.runs.logs import NAME as LOGS
from mechid.runs.logs import read_logs, validation_rows, write_logs
from mechid.runs.record import (
    FORMAT_VERSION,
    STAGES,
    About,
    DataFile,
    Run,
    ValidationRow,
)
from mechid.runs.reductions import (
    read_contribution,
    read_reduction,
    write_contribution,
    write_reduction,
)
from mechid.runs.schemas import HeadWords, checked
from mechid.runs.tables import (
    motion_entry,
    read_forces,
    read_motion,
    read_parameters,
    write_forces,
    write_motion,
    write_parameters,
)
from mechid.textfile.formats import check_format
from mechid.validation.diagnosis_record import Diagnosis

# What a run may hold, with the page of `mechid report`; run.json names motions and forces.
_OWN = (
    "report.html",
    "validation.json",
    LOGS,
    FULL,
    "contributions.parquet",
    *(f"{name}.{ending}" for name in ("reduction", "ranking") for ending in ("json", "parquet")),
    *(
        f"{name}.{ending}"
        for name in ("estimate", "reduced")
        for ending in ("json", "covariance.parquet", "residuals.parquet")
    ),
    "parameters.parquet",
    "model.yaml",
)


class RunFolder:
    """A folder that takes the stages of a run as they are completed; no other process writes it.

    To be used in a `with` statement, which releases the folder at its end.
    """

    def __init__(self, path: Path, old: Sequence[Path], release: ExitStack) -> None:
        self.path = path
        self._old = old  # files of a run that is replaced
        self._at = place_beside(path / "new") if old else path  # where the new one is written
        self._release = release

    @staticmethod
    def create(path: str | Path, *, force: bool = False, inputs: Iterable[Path] = ()) -> RunFolder:
        """Make a new folder; one that is there is rejected, or with `force` an old run replaced.

        The old run stays until the new one is complete, and other files stay in any case. A run
        that was stopped before its estimate is replaced without `force`.

        Parameters
        ----------
        path : str or Path
        force : bool
        inputs : iterable of Path
            Files that are read: none of them may be inside.

        Raises
        ------
        DataError
            If it exists, cannot be made or written, or another process writes it.
        """
        path = Path(path)
        new = not path.exists()
        if not new:
            _check_replaced(path, force)
        inside = [x for x in inputs if real_path(path) in real_path(x).parents]
        if inside:
            raise DataError(
                f"an input lies in the folder of the run: {inside[0].name}",
                where=str(path),
                remedy="choose another folder, or move the input",
            )
        make_folder(path)
        with ExitStack() as stack:
            if new:
                stack.callback(_remove_empty, path)
            stack.enter_context(locked(path))
            if not new:
                _check_replaced(path, force)  # another process may have finished meanwhile
            remove_left_over(*_folders(path))
            return RunFolder(path, _own_files(path), stack.pop_all())

    @staticmethod
    def existing(path: str | Path) -> RunFolder:
        """Take over the folder of a run, to add to it."""
        with ExitStack() as stack:
            stack.enter_context(locked(Path(path)))
            remove_left_over(*_folders(Path(path)))
            return RunFolder(Path(path), (), stack.pop_all())

    def __enter__(self) -> RunFolder:
        """Return the folder."""
        return self

    def __exit__(self, *error: object) -> None:
        """Replace an old run, if the new one came to its end, and release the folder.

        One that was made for nothing is removed.
        """
        with self._release:
            if self._old:
                self._release.callback(remove_left_over, self.path)
                if error[0] is None and "estimate" in _head_of(self._at).get("stages", ()):
                    _replace(self.path, self._old, self._at)

    def keep(self, stage: str, run: Run) -> None:
        """Write what a stage has added to a run."""
        if stage == "data":
            self._begin(run)
        else:
            self._write(run, stage)

    def save(self, run: Run) -> None:
        """Write a run, as far as it came."""
        self._begin(run)
        for stage in run.stages[1:]:
            self._write(run, stage)

    def add(self, run: Run) -> None:
        """Write a run that has more motions than the one in the folder."""
        self._write(run, "data", "validation")

    def _begin(self, run: Run) -> None:
        """Write the data; until they are complete, the folder says so."""
        make_folder(self._at)
        _write_head(self._at, replace(run, stages=()))
        self._write(run, "data")

    def _write(self, run: Run, *stages: str) -> None:
        for stage in stages:
            _WRITERS[stage](self._at, run)
        write_parameters(self._at, run)
        _write_head(self._at, run)


def _check_replaced(path: Path, force: bool) -> None:
    """Reject a folder that may not be replaced."""
    if path.is_dir() and all(x.name == LOCK or is_left_over(x) for x in path.iterdir()):
        return  # it is empty, or a process was killed before it had begun
    if not (path / "run.json").is_file():
        what = "this exists and is not a run"
        raise DataError(what, where=str(path), remedy="choose another folder")
    if not force and "estimate" in _head_of(path).get("stages", ("estimate",)):
        what = "the folder holds a run"
        raise DataError(what, where=str(path), remedy="add --force to replace it")


def _head_of(path: Path) -> dict[str, Any]:
    """Return what run.json says, if it can be read."""
    try:
        head = read_json(path / "run.json")
    except DataError:
        return {}
    return head if isinstance(head, dict) else {}


def _own_files(path: Path) -> list[Path]:
    """Return the files of the run in a folder; run.json, which is replaced first, is not listed."""
    entries = _head_of(path).get("motions")
    named = [x.get("name") for x in entries if isinstance(x, dict)] if entries else []
    files = [path / name for name in _OWN]
    for kind in ("motions", "forces"):
        files += [path / kind / f"{n}.parquet" for n in named if _plain_name(n)]
    return [file for file in files if file.is_file()]


def _folders(path: Path) -> tuple[Path, ...]:
    return (path, path / "motions", path / "forces")


def _plain_name(name: object) -> bool:
    return isinstance(name, str) and Path(name).name == name


def _replace(path: Path, old: Sequence[Path], new: Path) -> None:
    """Replace the files of the old run; until all are there, run.json names both and says so."""
    before, after = _head_of(path), _head_of(new)
    named = [m for head in (before, after) for m in head.get("motions") or ()]
    write_json(path / "run.json", after | {"stages": [], "motions": named})
    moves = {path / x.relative_to(new): x for x in new.rglob("*") if x.is_file()}
    head = moves.pop(path / "run.json")
    try:
        for file, written in moves.items():
            file.parent.mkdir(exist_ok=True)
            written.replace(file)
        for file in set(old) - set(moves):
            file.unlink(missing_ok=True)
        file = head.replace(path / "run.json")
    except OSError as error:
        raise DataError(f"cannot replace the file: {error.strerror}", where=str(file)) from None
    for folder in _folders(path)[1:]:
        _remove_empty(folder)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


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
    with RunFolder.create(path, force=force) as folder:
        folder.save(run)


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
    again = f": {head['command']}" if head.get("command") else ""
    check_format(
        "run", head.get("run"), FORMAT_VERSION, where=str(folder), remedy=f"repeat the run{again}"
    )
    if not head.get("stages"):
        raise DataError(
            "the run was stopped before its data were complete",
            where=str(folder),
            remedy=f"repeat the run{again}",
        )
    model = folder / "model.yaml"
    if not model.is_file():
        raise DataError("there is no such file", where=str(model))
    try:
        if file_hash(model) != head["model"]["sha256"]:
            raise DataError(
                "the model of the run was changed after the run",
                where=str(model),
                remedy=f"restore it, or identify again with the changed model{again}",
            )
        found = _loaded(folder, head)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        words = f"the run was changed or is damaged ({type(error).__name__}: {error})"
        raise DataError(words, where=str(folder), remedy="repeat the run") from None
    if "validation" not in found.stages:
        logging.getLogger("mechid").warning(
            "%s: the run was stopped after its %s; repeat the run%s",
            folder,
            found.stages[-1],
            again,
        )
    return found


def _loaded(folder: Path, head: dict[str, Any]) -> Run:
    checked(head, HeadWords)
    if head.get("n_logs", 1) > len(head["motions"]):
        raise ValueError(f"{head['n_logs']} logs, but {len(head['motions'])} motions")
    stages = tuple(head["stages"])
    if stages != STAGES[: len(stages)]:
        raise ValueError(f"stages must be the first of {', '.join(STAGES)}")
    there = "validation" in stages
    file = folder / "run.json"
    run = Run(
        about=About(
            command=head["command"],
            model=head["model"]["name"],
            options=from_words(IdentifyOptions, head["options"], f"{file}: options"),
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
        validation=_validation(folder, head) if there else (),
        warnings=tuple(head["warnings"]),
        stages=stages,
        full=read_full(folder) if (folder / FULL).exists() else None,
        diagnosis=from_words(
            tuple[Diagnosis, ...], head.get("diagnosis", []), f"{file}: diagnosis"
        ),
        added=from_words(tuple[Finding, ...], head.get("added", []), f"{file}: added"),
        n_logs=head.get("n_logs", 1),
        **(read_logs(folder) if (folder / LOGS).exists() else {}),
    )
    _check_names(run)
    return run


def _check_names(run: Run) -> None:
    """Reject results of parameters that parameters.parquet does not have."""
    parts = (run.estimate, run.reduced, run.contribution)
    named = [name for part in parts if part is not None for name in part.parameters]
    if run.reduction is not None:
        named += run.reduction.ranking.order
    if strange := set(named) - set(run.parameters.names):
        raise ValueError(f"there is no parameter {min(strange)}")
    terms = [term.column for term in element_terms(run.mechanism) if not term.known]
    wanted = tuple(column.name for column in (*inertial_columns(run.mechanism), *terms))
    if run.full is not None and run.full.parameters != wanted:
        raise ValueError(f"{FULL} must have the {len(wanted)} parameters of the model")


def _validation(folder: Path, head: dict[str, Any]) -> tuple[ValidationRow, ...]:
    """Return the errors of the motions of the run, without one that was not added to the end."""
    forces = {motion["name"]: motion["forces"] for motion in head["motions"]}
    file = folder / "validation.json"
    rows = validation_rows(read_json(file), f"{file}: ")
    rows = tuple(row for row in rows if row.motion in forces)
    for row in rows:
        if strange := set(row.forces) - set(forces[row.motion]):
            raise ValueError(f"validation.json: {row.motion} has no force {min(strange)}")
    return rows


def _write_head(folder: Path, run: Run) -> None:
    head: dict[str, Any] = {
        "run": FORMAT_VERSION,
        "command": run.about.command,
        "model": {
            "name": run.about.model,
            "mechanism": run.mechanism.name,
            "sha256": hashlib.sha256(dumps(run.mechanism).encode()).hexdigest(),
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
        "diagnosis": to_words(run.diagnosis),
        "added": to_words(run.added),
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
