"""What commands on measurements share: reading data, and the options of an identification."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from mechid.cli.parse_values import named, number, share
from mechid.errors import DataError

if TYPE_CHECKING:
    from mechid.measurementfile.read import Window
    from mechid.mechanism.records import Mechanism
    from mechid.runs.record import DataFile, MotionData
    from mechid.runs.truth import Truth
    from mechid.signals.record import Preparation
    from mechid.tasks.measured_constraints import MeasuredConstraints
    from mechid.tasks.reduce import ReduceOptions
    from mechid.tasks.regress import DeclaredNoise

Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Measured positions and forces: .csv, .parquet, .mat, .h5, .mf4; a part of it as "
        "FILE@FROM:TO, in seconds.",
    ),
]
Map: TypeAlias = Annotated[
    Path | None,
    typer.Option("--map", "-m", help="Which channel of the data is what, with its unit (.yaml)."),
]
Estimator: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="auto (most probable for forces and CAD values together, noise as the data show it), "
        "map (the same, noise as it is set), physical or log-cholesky (with bodies that can "
        "exist), ols, weighted, ridge, truncated, huber, iv.",
        show_default="auto",
    ),
]
Setting: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Setting of the estimator, NAME=VALUE, as scale=1, gains=5%, "
        "penalty=0.1; may be repeated.",
        show_default=False,
    ),
]
Offsets: TypeAlias = Annotated[
    bool,
    typer.Option("--offsets", help="Estimate a constant offset of each force besides."),
]
CadError: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Relative error of the CAD values, as 20%; default: what the model declares."
    ),
]
Noise: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="What is known of the noise of the forces: 5% of each, or FORCE=12.5 (N, N m); may "
        "be repeated.",
        show_default=False,
    ),
]
Weigh: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="What a balance said, BODY=MASS±DEVIATION in kg, as arm=3.4±0.05 or arm=3.4+-0.05; of "
        "bodies together a+b=5.1; may be repeated.",
        show_default=False,
    ),
]
Symmetric: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Bodies left and right are mirror images: x, y or z, the axis of the ground normal to "
        "the plane of symmetry, which goes through its origin.",
        show_default="not",
    ),
]
Reduce: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--reduce",
        help="Reduce the model, eliminating by contribution, stacked-contribution (N and N m "
        "alike), deviation or greedy.",
        show_default="not",
    ),
]
Size: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Of the reduced model: a number, limits (low error at a low condition number), or "
        "cross (validation), which auto means."
    ),
]
Rest: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Eliminated parameters are zero, or stay at cad.", show_default="cad with a prior"
    ),
]
Period: TypeAlias = Annotated[
    float | None, typer.Option(help="Period of a motion that repeats, s: a Fourier series is used.")
]
Cutoff: TypeAlias = Annotated[
    float | None, typer.Option(help="Cut-off of the low-pass filter of positions, Hz.")
]
Decimation: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Keep every so many samples of W and forces, filtered.")
]


def file_and_part(text: str) -> tuple[Path, Window | None]:
    """Return the file of FILE or FILE@FROM:TO, and the part of it in seconds.

    A file whose name has such an ending is taken as it is.

    Raises
    ------
    DataError
        If the part is no range of times.
    """
    name, sign, part = text.rpartition("@")
    if not sign or Path(text).is_file():
        return Path(text), None
    low, sign, high = part.partition(":")
    if not sign:
        raise DataError(f"{part} is no part of a log", where=text, remedy="write FILE@FROM:TO")
    start, end = (number(word, text) if word.strip() else None for word in (low, high))
    if start is not None and end is not None and not start < end:
        raise DataError(f"nothing is between {start:g} and {end:g} s", where=text)
    return Path(name), (start, end)


def read_data(
    data: str,
    mechanism: Mechanism,
    name: str,
    mapping: Path | None = None,
    *,
    period: float | None = None,
    cutoff: float | None = None,
    decimation: int | None = None,
) -> MotionData:
    """Read a measurement and prepare it; what is wrong with it names the file."""
    from mechid.measurementfile import read_measurement
    from mechid.signals.prepare import prepare
    from mechid.tasks.regress import motion_data

    path, use = file_and_part(data)
    read = read_measurement(path, mechanism, mapping, use=use)
    if not read.forces:
        raise DataError(
            "no force of the mechanism was measured",
            where=str(path),
            remedy=f"those are {', '.join(c.force for c in mechanism.coordinates)}",
        )
    if not read.tau[read.valid].any():
        raise DataError(
            "all measured forces are zero",
            where=str(path),
            remedy="check the channels, scales and offsets of the forces",
        )
    options = _preparation(read.preparation, period=period, cutoff=cutoff, decimation=decimation)
    return motion_data(name, str(path), prepare(read, mechanism, options))


def _preparation(asked: Preparation, **given: Any) -> Preparation:
    """Put what the command line says over what the mapping file asks for."""
    from dataclasses import replace

    for name, value in given.items():
        if value is not None and not value > 0:
            raise DataError(f"--{name} is {value:g}", remedy="give a positive number")
    return replace(asked, **{name: value for name, value in given.items() if value is not None})


def found_truth(given: Path | None, data: str) -> tuple[Truth | None, list[DataFile]]:
    """Return the truth of synthetic data, if there is one, and its file."""
    from mechid.runs.files import file_hash
    from mechid.runs.record import DataFile
    from mechid.runs.truth import read_truth, truth_path

    path = given or truth_path(file_and_part(data)[0])
    if given is None and not path.is_file():
        return None, []
    return read_truth(path), [DataFile(str(path), file_hash(path), "truth")]


def data_files(motions: list[MotionData], mapping: Path | None = None) -> list[DataFile]:
    """Return names and hashes of the files that were read."""
    from mechid.runs.files import file_hash
    from mechid.runs.record import DataFile

    found = [DataFile(m.source, file_hash(m.source), m.name) for m in motions]
    if mapping is not None:
        found.append(DataFile(str(mapping), file_hash(mapping), "map"))
    return found


def declared_noise(given: list[str] | None) -> DeclaredNoise:
    """Return what --noise says."""
    from mechid.tasks.regress import DeclaredNoise

    plain = [text for text in given or [] if "=" not in text]
    if len(plain) > 1:
        raise DataError("--noise for all forces is given twice", remedy="give one")
    level = share(plain[0], "--noise") if plain else 0.0
    single = named([text for text in given or [] if "=" in text], "--noise", "F_x=12.5")
    values = {name: number(text, f"--noise {name}={text}") for name, text in single.items()}
    for value in (level, *values.values()):
        if not 0 <= value < float("inf"):
            raise DataError(f"--noise is {value:g}", remedy="give zero or a positive number")
    return DeclaredNoise(level, values)


def measured_constraints(weigh: list[str] | None, symmetric: str | None) -> MeasuredConstraints:
    """Return what --weigh and --symmetric say."""
    from mechid.tasks.measured_constraints import MeasuredConstraints, Weighing

    found = []
    for names, value in named(weigh or [], "--weigh", "arm=3.4±0.05").items():
        where = f"--weigh {names}={value}"
        mass, _, sigma = value.replace("+/-", "±").replace("+-", "±").partition("±")
        bodies = tuple(name.strip() for name in names.split("+"))
        one = Weighing(bodies, number(mass, where), number(sigma, where) if sigma else 0.0)
        if not (0 < one.mass < float("inf") and 0 <= one.sigma < float("inf")):
            raise DataError(
                "this is no mass", where=where, remedy="give a positive mass and its deviation, kg"
            )
        if len(set(bodies)) < len(bodies):
            raise DataError("a body is named twice", where=where, remedy="name each body once")
        found.append(one)
    return MeasuredConstraints(tuple(found), symmetric)


def reduce_options(rule: str | None, size: str, rest: str | None) -> ReduceOptions | None:
    """Return what --reduce, --size and --rest say."""
    from mechid.tasks.reduce import RULES, ReduceOptions

    if rule is None:
        if size != "auto" or rest is not None:
            raise DataError(
                "--size and --rest are those of a reduction", remedy="add --reduce contribution"
            )
        return None
    for value, known, what in (
        (rule, RULES, "--reduce"),
        (rest or "auto", ("auto", "zero", "cad"), "--rest"),
    ):
        if value not in known:
            raise DataError(f"{what} {value} is unknown", remedy=f"use {', '.join(known)}")
    wanted: Any = size
    if wanted not in ("auto", "limits", "cross"):
        try:
            wanted = int(size)
        except ValueError:
            raise DataError(
                f"--size {size} is no size", remedy="use a number, limits or cross"
            ) from None
    return ReduceOptions(rule, wanted, rest or "auto")  # type: ignore[arg-type]
