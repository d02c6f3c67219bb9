"""The report of a run, written to a file."""

from __future__ import annotations

from pathlib import Path

from mechid.report.page import render
from mechid.report.sections import (
    base,
    contribution,
    forces,
    head,
    mechanism,
    mobility,
    noise,
    parameters,
    reduction,
    repeat,
    validation,
)
from mechid.runs.files import write_text
from mechid.runs.record import Run


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
            mechanism.section(run),
            mobility.section(run),
            base.section(run, certify=certify),
            forces.section(run),
            parameters.section(run),
            contribution.section(run),
            reduction.section(run),
            validation.section(run),
            noise.section(run),
            repeat.section(run),
        ),
    )


def write_report(run: Run, path: str | Path, *, certify: bool = False) -> Path:
    """Write the page of a run and return its path.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    path = Path(path)
    write_text(path, render_report(run, certify=certify))
    return path
