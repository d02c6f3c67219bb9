"""Export a model or what was identified: files of other tools, tables of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mechid.errors import DataError, MechidError
from mechid.exporting.code import identifier
from mechid.exporting.content import Content, Exported
from mechid.exporting.targets import TARGETS, target_of
from mechid.measurementfile.mapping import find_quantity
from mechid.mechanism.records import Mechanism
from mechid.outputs import check_outputs, write_all
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
    measured: Sequence[str] = (),
    fmi: str | int | None = None,
    kind: str | None = None,
) -> Exported:
    """Write a model, or the identified model of a run, for other tools.

    Of a run, all parameters are the physically consistent set that has the identified base
    parameters (those of the reduced model if there is one) and is nearest to CAD.

    Parameters
    ----------
    source : Run, Mechanism, str or Path
        A run or its folder, or a model: what `load` takes.
    to : str, optional
        "urdf", "mjcf", "c", "python", "matlab", "fmu", "model", "tables" (CSV), "xlsx" or "latex";
        by default as the suffix of `path` says: .urdf, .xml, .c, .py, .m, .fmu, .yaml, .csv,
        .xlsx, .tex.
    path : str or Path, optional
        File to write, or a folder for it. C has a header beside it and MATLAB its parameters.
    allow_loss : bool
        Whether to leave out what the format cannot hold; otherwise it is rejected.
    force : bool
        Whether a file that is there is replaced.
    measured : sequence of str
        Quantities from which generated code can compute the coordinates, as in a mapping of a log:
        joints, points, distances.
    fmi : 2 or 3, optional
        Version of an FMU: 2.0 (default) or 3.0.
    kind : "simulation" or "inverse", optional
        What an FMU does: from forces to motion (default), or from motion to forces.

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
    if measured and not target.is_code:
        raise DataError(
            f"{name} takes no measured quantities",
            remedy=f"choose one of: {', '.join(x for x in TARGETS if TARGETS[x].is_code)}",
        )
    options = {k: x for k, x in (("fmi", fmi), ("kind", kind)) if x is not None}
    for option in set(options) - set(target.options):
        raise DataError(f"{name} has no option {option}", remedy="leave it out, or choose fmu")
    content = content_of(source, target.with_base)
    quantities = tuple(find_quantity(content.mechanism, x) for x in measured)
    file = None if path is None else Path(path)
    if file is not None and file.is_dir():
        file /= identifier(content.mechanism.name) + target.suffix
    content = replace(content, measured=quantities, file_name=file.stem if file else "")
    check_outputs(file, force=force)
    found = target.write(content, allow_loss, **options)
    written: dict[Path, bytes] = {}
    if file is not None:
        written = {file: found.data} | {file.with_name(x): data for x, data in found.beside}
    check_outputs(*written, force=force)
    write_all(written)
    notes = (*content.notes, *found.notes)
    return replace(found, target=name, notes=notes, paths=tuple(map(str, written)))


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
