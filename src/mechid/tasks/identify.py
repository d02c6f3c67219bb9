"""Identify a mechanism: from measured motions and forces to a validated model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.runs.folder import RunFolder
from mechid.runs.record import About, Run, library_versions
from mechid.runs.truth import Truth
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.diagnose import diagnosed
from mechid.tasks.estimators import identify_options
from mechid.tasks.friction import richer_friction
from mechid.tasks.inputs import mechanism_of
from mechid.tasks.keywords import keywords_of
from mechid.tasks.measured import data_files, prepared_motions, truth_of
from mechid.tasks.stages import (
    chosen_base,
    estimated,
    parameter_table,
    problem_of,
    reduced,
    validated,
)
from mechid.tasks.standstill import without_standstill
from mechid.validation.crossvalidate import Stop, Watch

Keep: TypeAlias = Callable[[str, Run], None]


@keywords_of(IdentifyOptions)
def identify(
    model: Mechanism | str | Path,
    data: Any,
    options: IdentifyOptions = IdentifyOptions(),  # noqa: B008 - frozen
    *,
    validate: Any = (),
    instruments: Any = None,
    mapping: str | Path | Mapping[str, Any] | None = None,
    truth: Truth | str | Path | None = None,
    folder: str | Path | None = None,
    force: bool = False,
    command: str = "",
    watch: Watch | None = None,
    stop: Stop = lambda: False,
    **words: Any,
) -> Run:
    """Identify a mechanism from a measured motion, and try the model on others.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    data : Measurement, PreparedMeasurement, Synthesis, str or Path
        The motion to identify with; a part of a file as "FILE@FROM:TO" (s).
    options : IdentifyOptions
    validate : one or a list of such data, optional
        Motions to try the model on.
    instruments : such data, optional
        A second measurement of the identification motion, for instrumental variables.
    mapping : path or dict, optional
        Which channel of a file is what.
    truth : Truth, str or Path, optional
        Of synthetic data, for comparison; nothing depends on it. By default that of `data`.
    folder : str or Path, optional
        Where the run is written, stage by stage; `save_run` writes it afterwards.
    force : bool
        Whether a run in that folder is replaced.
    command : str
        What the record of the run says of how it was made.
    watch : callable (stage, step, value), optional
        Told how the reduction goes on.
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
    motions = prepared_motions(data, validate, mechanism, options, mapping)
    second = None
    if instruments is not None:
        (second,) = prepared_motions(
            instruments, (), mechanism, options, mapping, first="instruments"
        )
    known, files = truth_of(data, truth)
    about = About(
        command=command,
        model=str(model) if isinstance(model, str | Path) else mechanism.name,
        options=options,
        files=(*data_files((*motions, *([second] if second else [])), mapping), *files),
        versions=library_versions(),
    )
    return identify_motions(
        mechanism,
        motions,
        options,
        instruments=second,
        truth=known,
        about=about,
        keep=None if folder is None else RunFolder.create(folder, force=force).keep,
        watch=watch,
        stop=stop,
    )


def identify_motions(
    mechanism: Mechanism,
    motions: Sequence[PreparedMeasurement],
    options: IdentifyOptions = IdentifyOptions(),  # noqa: B008 - frozen
    *,
    instruments: PreparedMeasurement | None = None,
    truth: Truth | None = None,
    about: About | None = None,
    keep: Keep | None = None,
    watch: Watch | None = None,
    stop: Stop = lambda: False,
) -> Run:
    """Identify from prepared motions: the first to identify with, the others to validate.

    `keep` is told when a stage is complete; `RunFolder.keep` writes it. The others as `identify`.
    """

    def kept(run: Run, stage: str) -> Run:
        run = replace(run, stages=(*run.stages, stage))
        if keep is not None:
            keep(stage, run)
        return run

    motions = without_standstill(mechanism, motions, options)
    mechanism, truth, friction = richer_friction(mechanism, motions, options, truth)
    chosen = chosen_base(mechanism, options)
    run = Run(
        about=about or About(model=mechanism.name, options=options),
        mechanism=mechanism,
        parameters=parameter_table(mechanism, chosen, truth),
        motions=tuple(motions),
        friction=friction,
    )
    run = kept(run, "data")
    problem = problem_of(mechanism, chosen, motions, options, instruments)
    run = kept(estimated(run, problem, options), "estimate")
    run = kept(reduced(run, problem, options, watch, stop), "reduction")
    return kept(diagnosed(validated(run, problem), problem), "validation")
