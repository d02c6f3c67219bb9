"""What `mechid excite` is told: options, goals, given motions, files to write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mechid.errors import DataError
from mechid.options.excite import CRITERIA, DEFAULT_CRITERION, OF_PARAMETERS, ExciteOptions

if TYPE_CHECKING:
    from mechid.excitation.bounds import MotionLimit
    from mechid.mechanism.records import Mechanism

_DESIGN = "What is designed"
_RATE = "What a good motion is"
SEARCH = "How long to search, and where"
FILES = "Files"


def _option(panel: str, words: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=words, rich_help_panel=panel, **more)


OPTIONS: Mapping[str, Any] = {
    "family": _option(_DESIGN, "Kind of motion."),
    "harmonics": _option(_DESIGN, "N of a Fourier series; a spline has 2 N + 1 values.", min=1),
    "frequency": _option(_DESIGN, "Base frequency, Hz: the motion lasts one period."),
    "samples": _option(
        _DESIGN, "Per period; default: 12 per period of the highest harmonic.", min=4
    ),
    "rest": _option(_DESIGN, "Start and end at rest.", "--rest"),
    "fixed": _option(_DESIGN, "Prescribed motion, NAME=EXPRESSION of t; may be repeated.", "--fix"),
    "criterion": _option(
        _RATE,
        f"{', '.join(CRITERIA)}; default: {DEFAULT_CRITERION}, or {OF_PARAMETERS} with "
        "--parameters.",
    ),
    "goals": _option(
        _RATE, "CRITERION=VALUE to be reached; repeated, the worst missed one counts.", "--goal"
    ),
    "parameters": _option(
        _RATE, "Base parameters of interest, A,B,…; the others are estimated too."
    ),
    "noise": _option(_RATE, "Force noise relative to the forces, as 5%."),
    "noise_of": _option(
        _RATE,
        "Which forces: those of the motion itself (at least the usual ones), or the usual ones.",
    ),
    "prior": _option(
        _RATE,
        "Whether CAD values are used as prior, with their standard deviations.",
        "--prior/--no-prior",
    ),
    "cad_error": _option(
        _RATE,
        "Relative error of the CAD values, as 20%; default: what the model declares, and 20% "
        "of values for which it declares nothing.",
    ),
    "base": _option(_RATE, "Base set, as for `mechid identify`."),
    "converge_on": _option(_RATE, "Bodies in which inertia gathers, with commas."),
    "random": _option(SEARCH, "Random motions tried first.", min=1),
    "starts": _option(SEARCH, "Of the best, how many are improved.", min=0),
    "iterations": _option(SEARCH, "Steps for each of them.", min=1),
    "max_seconds": _option(SEARCH, "Stop after this time, with the best motion so far."),
    "seed": _option(SEARCH, "Of the random motions."),
    "device": _option(
        SEARCH, "Where random motions are judged: cpu, cuda, cuda:1; default: MECHID_DEVICE or cpu."
    ),
}


def words_of(words: Mapping[str, Any]) -> ExciteOptions:
    """Return the options that were given; goals mean the criterion "goals"."""
    from mechid.options import changed
    from mechid.textfile.numbers import named, number

    found = {k: v for k, v in words.items() if v is not None}
    if "fixed" in found:
        found["fixed"] = named(found["fixed"], "--fix", "z=0.1*t")
    if "goals" in found:
        goals = named(found["goals"], "--goal", "prediction=0.01")
        found["goals"] = {k: number(v, f"--goal {k}={v}") for k, v in goals.items()}
        found["criterion"] = "goals"
    return changed(ExciteOptions(), found)


def check_files(
    evaluate: Path | None,
    output: Path | None,
    table: Path | None,
    rate: float | None,
) -> None:
    """Reject what would only be noticed after the work is done."""
    from mechid.tables.files import SUFFIXES
    from mechid.trajectoryfile.api import YAML_SUFFIXES

    for path, suffixes in ((output, YAML_SUFFIXES), (table, SUFFIXES)):
        if path is None:
            continue
        if evaluate is not None:
            raise DataError(
                "an evaluated motion is not written",
                where=str(path),
                remedy="omit --evaluate, or --output and --table",
            )
        if path.suffix.lower() not in suffixes:
            raise DataError(
                f"unknown file type {path.suffix or '(no extension)'}",
                where=str(path),
                remedy=f"use {' or '.join(suffixes)}",
            )
    if rate is not None and table is None:
        raise DataError("--rate belongs to a table", remedy="add --table FILE")
    if rate is not None and not rate > 0:
        raise DataError(f"--rate must be > 0, got {rate:g}")


def limits_of(path: Path | None, mechanism: Mechanism) -> tuple[MotionLimit, ...]:
    """Return the limits of a file; what is wrong with them names the file."""
    from mechid.excitation.bounds import check_limits
    from mechid.trajectoryfile.limits import read_limits

    if path is None:
        return ()
    found = read_limits(path)
    try:
        check_limits(found, mechanism)
    except DataError as error:
        raise error.located(str(path)) from None
    return found
