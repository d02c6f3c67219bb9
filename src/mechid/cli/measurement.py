"""`mechid measurement`: a log in, what is in it, and a motion with forces out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.common import (
    Force,
    Json,
    Model,
    load_model,
    print_json,
    print_notes,
    print_pairs,
    print_table,
)
from mechid.errors import MechidError, ModelError
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.kinematics.motion import Motion
    from mechid.kinematics.tables import Floats
    from mechid.signals.record import Measurement, Noise, PreparedMeasurement


class Derivatives(StrEnum):
    """Where speeds and accelerations come from."""

    AUTO = "auto"
    GIVEN = "given"
    LOW_PASS = "low-pass"
    FOURIER = "fourier"
    SPLINE = "spline"
    INTERPOLATE = "interpolate"


def measurement(
    model: Model,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Log: .csv, .txt, .parquet, .mat, .h5, .mf4, ROS bag; several files of it as "
            "FILE+FILE; a part as FILE@FROM:TO, in seconds.",
        ),
    ],
    mapping: Annotated[
        Path | None,
        typer.Option("--map", "-m", help="Mapping file: channels and units (.yaml)."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .csv or .parquet.")
    ] = None,
    method: Annotated[
        Derivatives | None,
        typer.Option(help="Where speeds and accelerations come from.", show_default="auto"),
    ] = None,
    cutoff: Annotated[
        float | None, typer.Option(help="Cut-off of the low-pass filter, Hz.")
    ] = None,
    period: Annotated[
        float | None, typer.Option(help="Period of a motion that repeats, s.")
    ] = None,
    decimation: Annotated[
        int | None, typer.Option(help="Keep every nth sample, filtered; 1: all.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Read a log of a mechanism, check it, and derive speeds and accelerations.

    Without --map, channels are named as the coordinates and forces of the model, in SI units.
    The table has time, coordinates, NAME.d, NAME.dd and forces; other commands read it.
    """
    from mechid.kinematics.motion import solve_motion
    from mechid.measurementfile import read_measurement
    from mechid.measurementfile.join import log_files
    from mechid.measurementfile.read import file_and_part
    from mechid.tables.files import table_suffix
    from mechid.tasks.measured import prepare

    if output is not None:
        table_suffix(output)
    read_files = log_files(file_and_part(data)[0])
    check_outputs(output, force=force, inputs=[model, *read_files, mapping])
    ready = load_model(model)
    read = read_measurement(data, ready.mechanism, mapping)
    how: dict[str, Any] = {"cutoff": cutoff, "period": period, "decimation": decimation}
    prepared = prepare(read, ready, method=method and method.value, **how)
    try:
        motion = solve_motion(ready, prepared.y, prepared.yd, prepared.ydd, time=prepared.time)
    except MechidError as error:
        raise error.located(read.source) from None
    found = summary(read, prepared, motion)
    if output is not None:
        from mechid.tasks.synthesise import save_measurement

        save_measurement(prepared, output, ready)
    found["output"] = None if output is None else str(output)
    if json:
        print_json(found)
    else:
        _show(found)


def summary(read: Measurement, prepared: PreparedMeasurement, motion: Motion) -> dict[str, Any]:
    """Return everything that `measurement` says, ready for JSON."""
    import numpy as np

    from mechid.signals.filters import Decimation
    from mechid.tables.forces import force_unit

    def rms(values: Floats) -> list[float]:
        return [float(x) for x in np.sqrt(np.nanmean(values**2, axis=0))]

    mechanism, noise = motion.model.mechanism, prepared.noise
    n_i, n_d = len(mechanism.coordinates), len(read.forces)
    unknown = [None] * max(n_i, n_d)
    factor = None if prepared.decimation == 1 else prepared.decimation
    n = len(prepared.time)
    rows = None if factor is None else len(range(n)[Decimation(factor).kept(n)])
    units = {c.force: force_unit(c) for c in mechanism.coordinates}
    causes = _causes(motion, noise)
    return {
        "model": mechanism.name,
        "samples": len(read.time),
        "start": float(read.time[0]),
        "end": float(read.time[-1]),
        "rate": read.rate,
        "measured": list(read.names),
        "method": prepared.method,
        "cutoff": prepared.cutoff,
        "prepared_samples": n,
        "decimation": factor,
        "decimated_samples": rows,
        "coordinates": {
            c.name: {
                "unit": c.unit,
                "min": float(prepared.y[:, i].min()),
                "max": float(prepared.y[:, i].max()),
                "rms_speed": rms(prepared.yd)[i],
                "rms_acceleration": rms(prepared.ydd)[i],
                "noise": unknown[i] if noise is None else float(noise.y[i]),
                "noise_speed": unknown[i] if noise is None else float(noise.yd[i]),
                "noise_acceleration": unknown[i] if noise is None else float(noise.ydd[i]),
            }
            for i, c in enumerate(mechanism.coordinates)
        },
        "forces": {
            name: {
                "unit": units[name],
                "rms": rms(prepared.tau)[k],
                "noise": None if noise is None else float(noise.tau[k]),
                "valid": int(prepared.valid[:, k].sum()),
                "error_by_position_noise": None if causes is None else causes[name],
            }
            for k, name in enumerate(read.forces)
        },
        "notes": list(prepared.notes),
        "warnings": list(prepared.warnings),
    }


def _causes(motion: Motion, noise: Noise | None) -> dict[str, float] | None:
    """Return the force errors that position noise causes, by force, if they can be told."""
    from mechid.signals.noise import force_errors

    try:
        found = force_errors(motion, noise)
    except ModelError:
        return None  # a body has no CAD values
    if found is None:
        return None
    coordinates = motion.model.mechanism.coordinates
    return {c.force: float(x) for c, x in zip(coordinates, found, strict=True)}


def _show(found: dict[str, Any]) -> None:
    pairs = [
        ("samples", f"{found['samples']}, {found['start']:g} s to {found['end']:g} s, "
         f"{found['rate']:.6g} Hz"),
        ("measured", ", ".join([*found["measured"], *found["forces"]])),
        ("derivatives", found["method"]
         + (f", cut-off {found['cutoff']:.4g} Hz" if found["cutoff"] else "")),
        ("prepared", f"{found['prepared_samples']} samples"
         + (f", to be decimated by {found['decimation']} to {found['decimated_samples']}"
            if found["decimation"] else "")),
    ]  # fmt: skip
    print_pairs(pairs)
    typer.echo("")
    print_table(
        ("coordinate", "unit", "from", "to", "noise", "of speed", "of acceleration"),
        [
            (name, c["unit"], f"{c['min']:.4g}", f"{c['max']:.4g}", _level(c["noise"]),
             _part(c["noise_speed"], c["rms_speed"]),
             _part(c["noise_acceleration"], c["rms_acceleration"]))
            for name, c in found["coordinates"].items()
        ],
    )  # fmt: skip
    if found["forces"]:
        typer.echo("")
        print_table(
            ("force", "unit", "rms", "noise", "by positions", "usable"),
            [
                (name, f["unit"], f"{f['rms']:.4g}", _level(f["noise"]),
                 _level(f["error_by_position_noise"]), str(f["valid"]))
                for name, f in found["forces"].items()
            ],
        )  # fmt: skip
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    if found["output"]:
        typer.echo(f"wrote {found['output']}")


def _level(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.2g}"


def _part(noise: float | None, size: float) -> str:
    if noise is None or noise != noise or not size:
        return "-"
    return f"{noise / size:.2%}"
