"""`mechid predict`: forces of any motion, by an identified model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.common import Force, Json, print_json, print_notes, print_pairs, print_table
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.runs.record import ForceHistory, Run

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of `mechid identify`.")]


def predict(
    run: RunArgument,
    motion: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION", help="CSV or Parquet table of coordinates, or a trajectory (.yaml)."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .csv or .parquet.")
    ] = None,
    level: Annotated[float, typer.Option(help="Of the intervals, between 0 and 1.")] = 0.95,
    rate: Annotated[float | None, typer.Option(help="Samples per second of a trajectory.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Predict the forces of a motion with the model of a run, with intervals.

    Columns: FORCE, FORCE.sigma (by uncertain parameters and by what the model does not describe),
    FORCE.lower and FORCE.upper (interval of a measurement by a calibrated sensor, with the noise of
    the force).
    """
    from mechid.runs.folder import load_run
    from mechid.tables.files import table_suffix, write_table
    from mechid.tasks.predict import predict as work

    if output is not None:
        table_suffix(output)
    check_outputs(output, force=force, inputs=[motion])
    identified = load_run(run)
    found = work(identified, motion, rate=rate)
    columns = _columns(found, level)
    if output is not None:
        write_table(output, columns)
    result = {
        "model": identified.mechanism.name,
        "samples": len(found.time),
        "level": level,
        "forces": _summary(identified, found),
        "notes": list(found.notes),
        "warnings": list(identified.warnings),
        "output": [] if output is None else [str(output)],
    }
    if json:
        print_json(result)
    else:
        _show(result)


def _columns(found: ForceHistory, level: float) -> dict[str, Any]:
    lower, upper = found.interval(level)
    columns = {"time": found.time}
    for j, name in enumerate(found.forces):
        columns |= {
            name: found.predicted[:, j],
            f"{name}.sigma": found.sigma[:, j],
            f"{name}.lower": lower[:, j],
            f"{name}.upper": upper[:, j],
        }
    return columns


def _summary(run: Run, found: ForceHistory) -> dict[str, Any]:
    import numpy as np

    def rms(values: Any) -> float:
        return float(np.sqrt(np.mean(values**2)))

    return {
        name: {
            "rms": rms(found.predicted[:, j]),
            "sigma": rms(found.sigma[:, j]),
            "noise": float(run.final.noise[j]),
        }
        for j, name in enumerate(found.forces)
    }


def _show(found: dict[str, Any]) -> None:
    print_pairs([("model", found["model"]), ("samples", str(found["samples"]))])
    typer.echo("")
    print_table(
        ("force", "rms", "σ of the model", "noise"),
        [
            (name, *(f"{f[key]:.4g}" for key in ("rms", "sigma", "noise")))
            for name, f in found["forces"].items()
        ],
    )
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    for path in found["output"]:
        typer.echo(f"wrote {path}")
