"""Try a run on motions that were not used for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mechid.blas_threads import one_blas_thread
from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError
from mechid.estimation.estimate import predict
from mechid.options import IdentifyOptions, changed
from mechid.runs.folder import RunFolder
from mechid.runs.record import Run, Validation
from mechid.tasks.assess import as_measured, force_history, validation_rows
from mechid.tasks.clipped import without_clipped
from mechid.tasks.diagnose import renewed
from mechid.tasks.inputs import run_of
from mechid.tasks.measured import (
    VALIDATION,
    ChosenMappings,
    Mappings,
    check_samples,
    chosen_mappings,
    data_files,
    prepared_motions,
    several,
)
from mechid.tasks.regress import regression_of
from mechid.tasks.stages import same_forces


@one_blas_thread()
def validate(
    run: Run | str | Path,
    data: Any,
    *,
    mapping: Mappings = None,
    period: float | None = None,
    cutoff: float | None = None,
    decimation: int | None = None,
    add: bool = False,
) -> Validation:
    """Return how the models of a run do on other motions: CAD values, estimate, reduced model.

    Parameters
    ----------
    run : Run, str or Path
        A run, or its folder.
    data : Measurement, PreparedMeasurement, Synthesis, str or Path, or a list of these
        One per motion, as for `identify`.
    mapping : path, dict or list, optional
        As for `identify`.
    period, cutoff, decimation : numbers, optional
        How the measurements are prepared, as in `Preparation` (s, Hz, samples).
    add : bool
        Whether the result is kept in the folder of the run.

    Returns
    -------
    Validation
        Its `run` holds the new motions; `write_report` takes it.

    Raises
    ------
    DataError
        If other forces were measured than the run predicts.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> other = mechid.excite("five_bar", random=4, starts=0, seed=1)
    >>> test = mechid.synthesise("five_bar", other, truth=log.truth)
    >>> result = mechid.validate(mechid.identify("five_bar", log), test)
    >>> [row.model for row in result.rows]
    ['cad', 'estimate']
    """
    words = {"period": period, "cutoff": cutoff, "decimation": decimation}
    how = changed(IdentifyOptions(), words)
    logs = several(data)
    mappings = chosen_mappings(mapping, logs)
    before = run_of(run)
    if not add:
        return _validated(before, logs, mappings, how)
    if not isinstance(run, str | Path):
        raise DataError(
            "only a run in a folder can keep the result", remedy="give the folder of the run"
        )
    with RunFolder.existing(run) as folder:
        found = _validated(run_of(run), logs, mappings, how)  # others may have added meanwhile
        folder.add(found.run)
    return found


def _validated(
    before: Run, logs: Sequence[Any], mappings: ChosenMappings, how: IdentifyOptions
) -> Validation:
    names = [f"{VALIDATION}-{len(before.others) + k + 1}" for k in range(len(logs))]
    motions = prepared_motions(list(zip(names, logs, strict=True)), before.mechanism, how, mappings)
    if not motions:
        raise DataError("no data to validate with", remedy="give one measurement or more")
    files = data_files(motions, mappings)
    check_samples(motions, files, before.logs, before.about.files)
    model = dynamic_model(before.mechanism)
    regressions, known = {}, []
    for motion in motions:
        same_forces(motion, before.final.channels)
        whole = regression_of(model, motion, before.parameters.names)
        regressions[motion.name], clipped = without_clipped(
            whole, motion, predict(before.final, whole).forces, f" of {motion.name}"
        )
        known.append(replace(motion, warnings=(*motion.warnings, *clipped)))
    shown = {name: as_measured(before, r) for name, r in regressions.items()}
    after = replace(
        before,
        about=replace(before.about, files=(*before.about.files, *files)),
        motions=(*before.motions, *known),
        forces=(*before.forces, *(force_history(before, n, r) for n, r in shown.items())),
        validation=(*before.validation, *validation_rows(before, regressions)),
    )
    return Validation(renewed(after, regressions), tuple(regressions))
