"""The report of a run, written to a file."""

from __future__ import annotations

from pathlib import Path

from mechid.outputs import write_text
from mechid.report.page import render
from mechid.report.sections import (
    base,
    bodies,
    contribution,
    correlation,
    diagnosis,
    excitation,
    forces,
    head,
    mechanism,
    mobility,
    noise,
    parameters,
    reduction,
    repeat,
    spectra,
    validation,
)
from mechid.runs.record import Run, Validation
from mechid.tasks.inputs import run_of


def render_report(run: Run, *, certify: bool = False) -> str:
    """Return the page of a run: one HTML text that works offline.

    Parameters
    ----------
    run : Run
        As far as it came: what is missing is said.
    certify : bool
        Prove the number of base parameters, if the run does not say whether it is proved.
    """
    return render(
        f"{run.mechanism.title or run.mechanism.name}: identification",
        head.section(run),
        (
            diagnosis.section(run),
            mechanism.section(run),
            bodies.section(run),
            parameters.section(run),
            contribution.section(run),
            correlation.section(run),
            forces.section(run),
            spectra.section(run),
            validation.section(run),
            reduction.section(run),
            noise.section(run),
            excitation.section(run),
            mobility.section(run),
            base.section(run, certify=certify),
            repeat.section(run),
        ),
    )


def write_report(
    run: Run | Validation | str | Path, path: str | Path, *, certify: bool = False
) -> Path:
    """Write the page of a run and return its path.

    Parameters
    ----------
    run : Run, Validation, str or Path
        A run, its folder, or what `validate` returns: the run with further motions.
    path : str or Path
        Page to write, .html.
    certify : bool
        Prove the number of base parameters, if the run does not say whether it is proved.

    Raises
    ------
    DataError
        If this is no run, or the file cannot be written.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> page = mechid.write_report(mechid.identify("five_bar", log), "report.html")
    """
    path = Path(path)
    write_text(path, render_report(run_of(run), certify=certify))
    return path
