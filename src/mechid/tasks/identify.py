"""Identify a mechanism: from measured motions and forces to a validated model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from mechid.blas_threads import one_blas_thread
from mechid.errors import DataError
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.runs.folder import RunFolder
from mechid.runs.record import About, Run, library_versions
from mechid.runs.truth import Truth
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.compare_logs import compared
from mechid.tasks.diagnose import diagnosed, examined
from mechid.tasks.enrich import enriched, with_truth
from mechid.tasks.estimators import identify_options
from mechid.tasks.inputs import mechanism_of
from mechid.tasks.keywords import keywords_of
from mechid.tasks.measured import (
    IDENTIFICATION,
    VALIDATION,
    Mappings,
    check_apart,
    check_unused,
    chosen_mappings,
    data_files,
    input_files,
    numbered,
    prepared_motions,
    several,
    truth_of,
)
from mechid.tasks.stages import (
    parameter_table,
    reduced,
    validated,
    with_estimate,
)
from mechid.tasks.standstill import without_standstill
from mechid.validation.crossvalidate import Stop, Watch

Keep: TypeAlias = Callable[[str, Run], None]


@keywords_of(IdentifyOptions)
@one_blas_thread()
def identify(
    model: Mechanism | str | Path,
    data: Any,
    options: IdentifyOptions = IdentifyOptions(),  # noqa: B008 - frozen
    *,
    validate: Any = (),
    instruments: Any = None,
    mapping: Mappings = None,
    truth: Truth | str | Path | None = None,
    folder: str | Path | None = None,
    force: bool = False,
    command: str = "",
    watch: Watch | None = None,
    stop: Stop = lambda: False,
    **words: Any,
) -> Run:
    """Identify a mechanism from one or several measured motions, and try the model on others.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    data : Measurement, PreparedMeasurement, Synthesis, str or Path, or a list of these
        One log or several; a part of a file as "FILE@FROM:TO", in seconds from its start. Of
        several logs each is also predicted by the model identified from the others.
    options : IdentifyOptions
    validate : one or a list of such data, optional
        Motions to try the model on.
    instruments : one or a list of such data, optional
        A second measurement of each log, for instrumental variables.
    mapping : path, dict or list, optional
        Which channel of a file is what, in all files; a list may have "LOG=FILE" for single ones.
    truth : Truth, str or Path, optional
        Of synthetic data, for comparison; nothing depends on it. By default that of `data`.
    folder : str or Path, optional
        Where the run is written, stage by stage; `save_run` writes it afterwards.
    force : bool
        Whether a run in that folder is replaced.
    command : str
        What the record of the run says of how it was made.
    watch : callable (stage, step, value), optional
        Told which stage begins (step 0), and how the reduction goes on.
    stop : callable, optional
        Asked whether to end the reduction with what is there.
    **words
        Fields of `IdentifyOptions` and settings of the estimator, as estimator="ridge",
        penalty=1e-3, cad_error="20%", noise="5%", reduce="contribution", prior="diagonal",
        offsets=True.

    Returns
    -------
    Run
        What `reduce`, `validate`, `predict`, `save_run` and `write_report` take.

    Raises
    ------
    DataError
        If the data do not suffice, or options make no sense.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> run = mechid.identify("five_bar", log, cad_error="20%")
    >>> run.estimate.values.shape
    (11,)
    >>> errors = run.errors("identification")
    >>> errors["estimate"] < errors["cad"]
    True
    """
    mechanism = mechanism_of(model)
    options = identify_options(options, words, mechanism)
    if watch is not None:
        watch("data", 0, 0.0)
    logs, others, second = several(data), several(validate), several(instruments)
    _check_logs(logs, second)
    check_unused(others, logs)
    mappings = chosen_mappings(mapping, [*logs, *others, *second])
    names = (
        *numbered(IDENTIFICATION, len(logs)),
        *(f"{VALIDATION}-{k + 1}" for k in range(len(others))),
        *numbered("instruments", len(second)),
    )
    inputs = input_files(model, [*logs, *others, *second, truth], mappings)
    with (
        nullcontext() if folder is None else RunFolder.create(folder, force=force, inputs=inputs)
    ) as target:
        found = prepared_motions(
            list(zip(names, [*logs, *others, *second], strict=True)), mechanism, options, mappings
        )
        known, files = truth_of(logs, truth)
        about = About(
            command=command,
            model=str(model) if isinstance(model, str | Path) else mechanism.name,
            options=options,
            files=(*data_files(found, mappings), *files),
            versions=library_versions(),
        )
        return identify_motions(
            mechanism,
            found[: len(logs) + len(others)],
            options,
            n_logs=len(logs),
            instruments=found[len(logs) + len(others) :],
            truth=known,
            about=about,
            keep=None if target is None else target.keep,
            watch=watch,
            stop=stop,
        )


def _check_logs(logs: Sequence[Any], instruments: Sequence[Any]) -> None:
    if not logs:
        raise DataError("no data to identify with", remedy="give one log or more")
    if instruments and len(instruments) != len(logs):
        raise DataError(
            f"instruments must be given for each of {len(logs)} logs, got {len(instruments)}",
            remedy="give a second measurement of every log, in the same order",
        )
    check_apart(logs)


def identify_motions(
    mechanism: Mechanism,
    motions: Sequence[PreparedMeasurement],
    options: IdentifyOptions = IdentifyOptions(),  # noqa: B008 - frozen
    *,
    n_logs: int = 1,
    instruments: Sequence[PreparedMeasurement] = (),
    truth: Truth | None = None,
    about: About | None = None,
    keep: Keep | None = None,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Run:
    """Identify from prepared motions: the first `n_logs` to identify with, the others to validate.

    `keep` is told when a stage is complete; `RunFolder.keep` writes it. The others as `identify`.
    """

    def kept(run: Run, stage: str) -> Run:
        run = replace(run, stages=(*run.stages, stage))
        if keep is not None:
            keep(stage, run)
        return run

    tell = watch or (lambda stage, step, value: None)
    tell("estimate", 0, 0.0)
    if isinstance(options.standstill, float):
        motions = without_standstill(mechanism, motions, options, n_logs)
    found = enriched(mechanism, motions, options, n_logs, instruments)
    if options.standstill == "auto":
        # What is wrong near standstill stands out where the rest of the friction is in the model.
        moving = without_standstill(found.mechanism, motions, options, n_logs)
        if any(a.ignore_below != b.ignore_below for a, b in zip(moving, motions, strict=True)):
            motions = moving
            found = enriched(mechanism, motions, options, n_logs, instruments)
    truth = with_truth(truth, found, mechanism)
    mechanism, problem = found.mechanism, found.problem
    run = Run(
        about=about or About(model=mechanism.name, options=options),
        mechanism=mechanism,
        parameters=parameter_table(mechanism, found.base, truth, options.cad_error),
        motions=tuple(motions),
        added=found.added,
        diagnosis=found.gross,
        n_logs=n_logs,
    )
    run = kept(run, "data")
    run = examined(with_estimate(run, problem, found.estimate), problem)
    run = kept(run, "estimate")
    run = kept(reduced(run, problem, options, watch, stop), "reduction")
    tell("validation", 0, 0.0)
    run = validated(run, problem)
    if n_logs > 1:
        tell("comparison of logs", 0, 0.0)
    return kept(compared(diagnosed(run, problem), problem, options), "validation")
