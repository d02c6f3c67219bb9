"""Reduce the model of a run: fewer parameters, as the data bear."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from mechid.blas_threads import one_blas_thread
from mechid.options import ReduceOptions, step_options
from mechid.runs.folder import RunFolder
from mechid.runs.record import STAGES, Run, library_versions
from mechid.tasks.inputs import run_of
from mechid.tasks.keywords import keywords_of
from mechid.tasks.stages import problem_of, reduced, validated
from mechid.validation.crossvalidate import Stop, Watch


@keywords_of(ReduceOptions)
@one_blas_thread()
def reduce(
    run: Run | str | Path,
    options: ReduceOptions = ReduceOptions(),  # noqa: B008 - frozen
    *,
    folder: str | Path | None = None,
    force: bool = False,
    command: str = "",
    watch: Watch | None = None,
    stop: Stop = lambda: False,
    **words: Any,
) -> Run:
    """Return a run with its model reduced; the run itself stays as it is.

    Data, base set and estimator are those of the run. A reduction that it has is replaced.

    Parameters
    ----------
    run : Run, str or Path
        A run, or its folder.
    options : ReduceOptions
    folder : str or Path, optional
        Where the new run is written.
    force : bool
        Whether a run in that folder is replaced.
    command : str
        What the record of the run says of how it was made.
    watch, stop : callables, optional
        As for `identify`.
    **words
        Fields of `ReduceOptions`: by="contribution", size=8, rest="cad".

    Returns
    -------
    Run

    Raises
    ------
    DataError
        If the run has no estimate, or the options make no sense.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> small = mechid.reduce(mechid.identify("five_bar", log, estimator="ols"), size=6)
    >>> small.reduction.size.size
    6
    """
    from mechid.base.complete import listed_base

    before = run_of(run)
    how = step_options(ReduceOptions, options, words)
    with nullcontext() if folder is None else RunFolder.create(folder, force=force) as target:
        told = replace(before.about.options, reduce=how)
        mechanism = before.mechanism
        chosen = listed_base(mechanism, before.parameters.dependent, before.parameters.names)
        problem = problem_of(mechanism, chosen, before.motions, told, before.n_logs)
        estimate = before.estimate or before.final  # a run without an estimate is rejected
        prepared = (word for motion in before.motions for word in motion.warnings)
        fresh = replace(
            before,
            about=replace(before.about, command=command, options=told, versions=library_versions()),
            reduction=None,
            warnings=tuple(dict.fromkeys((*prepared, *problem.warnings, *estimate.warnings))),
            stages=STAGES,
        )
        after = validated(reduced(fresh, problem, told, watch, stop), problem)
        if target is not None:
            target.save(after)
    return after
