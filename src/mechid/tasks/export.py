"""Export a model or what was identified: files of other tools, tables of parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mechid.errors import DataError, MechidError
from mechid.exporting.content import Content, Exported
from mechid.exporting.targets import TARGETS, target_of
from mechid.mechanism.records import Mechanism
from mechid.runs.record import Run, Validation
from mechid.tasks.export_content import of_model, of_run
from mechid.tasks.inputs import mechanism_of, run_of


def export(
    source: Run | Mechanism | str | Path,
    to: str | None = None,
    path: str | Path | None = None,
    *,
    allow_loss: bool = False,
    force: bool = False,
) -> Exported:
    """Write a model, or the identified model of a run, for other tools.

    Of a run, all parameters are the physically consistent set that has the identified base
    parameters (those of the reduced model if there is one) and is nearest to CAD.

    Parameters
    ----------
    source : Run, Mechanism, str or Path
        A run or its folder, or a model: what `load` takes.
    to : str, optional
        "urdf", "mjcf", "model", "tables" (CSV), "xlsx" or "latex"; by default as the suffix of
        `path` says: .urdf, .xml, .yaml, .csv, .xlsx, .tex.
    path : str or Path, optional
        File to write.
    allow_loss : bool
        Whether to leave out what the format cannot hold; otherwise it is rejected.
    force : bool
        Whether a file that is there is replaced.

    Returns
    -------
    Exported
        The file as text or bytes, and what was left out.

    Raises
    ------
    ModelError
        Naming what the format cannot hold.
    DataError
        If there is no such format, or the file cannot be written.

    Examples
    --------
    >>> import mechid
    >>> file = mechid.export("four_bar", "mjcf")
    >>> print(file.text.splitlines()[1])
    <mujoco model="four_bar">
    >>> mechid.export("pendulum@spring", "urdf", allow_loss=True).left_out[-1]
    'spring coil on joint hinge'
    """
    name = target_of(to, path)
    target = TARGETS[name]
    if path is not None and Path(path).exists() and not force:
        raise DataError("the file exists", where=str(path), remedy="add --force to replace it")
    content = content_of(source, target.with_base)
    found = target.write(content, allow_loss)
    if path is not None:
        try:
            Path(path).write_bytes(found.data)
        except OSError as error:
            raise DataError(f"cannot write the file: {error.strerror}", where=str(path)) from None
    return replace(found, target=name, notes=(*content.notes, *found.notes))


def content_of(source: Any, with_base: bool = False) -> Content:
    """Return what is exported of a run or of a model."""
    folder = isinstance(source, str | Path) and (Path(source) / "run.json").is_file()
    if folder or isinstance(source, Run | Validation):
        run = run_of(source)
        try:
            return of_run(run)
        except MechidError as error:
            raise (error.located(str(source)) if folder else error) from None
    return of_model(mechanism_of(source), with_base)
