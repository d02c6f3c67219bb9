"""`mechid kinematics`: a motion in, the motion of anything out."""

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
    solve_file,
)
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.kinematics.motion import Motion
    from mechid.tables.observe import Columns

Names = list[str] | None


class Rpy(StrEnum):
    """The two readings of roll, pitch and yaw."""

    fixed = "fixed"
    moving = "moving"


def kinematics(
    model: Model,
    motion: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION",
            help="CSV or Parquet table: time and the independent coordinates; or a trajectory "
            "(.yaml).",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .csv or .parquet.")
    ] = None,
    point: Annotated[
        Names, typer.Option("--point", "-p", metavar="BODY.POINT", help="Motion of this point.")
    ] = None,
    joint: Annotated[
        Names, typer.Option("--joint", "-j", metavar="NAME", help="Motion in this joint.")
    ] = None,
    body: Annotated[
        Names, typer.Option("--body", "-b", metavar="NAME", help="Motion of this body's frame.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All joints and bodies.")] = False,
    margin: Annotated[
        bool, typer.Option("--margin", help="Distance from singular poses, for every sample.")
    ] = False,
    rpy: Annotated[
        Rpy | None,
        typer.Option(help="Orientation as roll, pitch, yaw about these axes, not as quaternion."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Solve the loops along a motion and write positions, velocities and accelerations.

    Missing columns NAME.d and NAME.dd (speed, acceleration) are derived with a spline of degree 5.
    Poses that cannot be reached, singular poses and jumps to another branch end with an error that
    names the sample.
    """
    from mechid.tables.files import table_suffix, write_table

    if output is not None:
        table_suffix(output)
    check_outputs(output, force=force, inputs=[model, motion])
    ready = load_model(model)
    table, moved = solve_file(ready, motion)
    columns = _columns(moved, point, joint, body, everything, rpy)
    summary = _summary(moved)
    if margin:
        columns["margin"] = summary.pop("margins")
    summary.pop("margins", None)
    summary["notes"] = [*table.notes, *summary["notes"]]
    if output is not None:
        write_table(output, columns)
    summary |= {"output": None if output is None else str(output), "columns": list(columns)}
    if json:
        print_json(summary)
    else:
        _show(summary)


def _columns(
    motion: Motion, points: Names, joints: Names, bodies: Names, everything: bool, rpy: Rpy | None
) -> Columns:
    from mechid.tables import body_columns, coordinate_columns, joint_columns, point_columns

    m = motion.model.mechanism
    every = everything or not (points or joints or bodies)
    all_joints = [j.name for j in m.joints if j.kind.coordinates]
    assert motion.time is not None
    columns = {"time": motion.time, **coordinate_columns(motion)}
    columns |= point_columns(motion, points or [])
    columns |= joint_columns(motion, all_joints if every else joints or [])
    columns |= body_columns(
        motion,
        [b.name for b in m.bodies] if every else bodies or [],
        "quaternion" if rpy is None else rpy.value,
    )
    return columns


def _summary(motion: Motion) -> dict[str, Any]:
    import numpy as np

    from mechid.kinematics.branch import singularity_margin
    from mechid.tables import closure_residual, limit_notes

    assert motion.time is not None
    margins = singularity_margin(motion.model, motion.q)
    residuals = closure_residual(motion.model, motion.q)
    least, worst = int(np.argmin(margins)), int(np.argmax(residuals))
    return {
        "model": motion.model.mechanism.name,
        "samples": len(motion.time),
        "start": float(motion.time[0]),
        "end": float(motion.time[-1]),
        "closure_residual": {"worst": float(residuals[worst]), "time": float(motion.time[worst])},
        "margin": {"smallest": float(margins[least]), "time": float(motion.time[least])},
        "notes": list(limit_notes(motion)),
        "margins": margins,
    }


def _show(summary: dict[str, Any]) -> None:
    closure, margin = summary["closure_residual"], summary["margin"]
    rows = [
        ("samples", f"{summary['samples']}, {summary['start']:g} s to {summary['end']:g} s"),
        ("worst closure residual", f"{closure['worst']:.1e} at {closure['time']:g} s"),
    ]
    if margin["smallest"] < float("inf"):
        rows.append(
            ("smallest singularity margin", f"{margin['smallest']:.3g} at {margin['time']:g} s")
        )
    else:
        rows.append(("smallest singularity margin", "none: there are no loops"))
    print_pairs(rows)
    print_notes(summary["notes"])
    if summary["output"]:
        typer.echo(f"wrote {summary['output']} ({len(summary['columns'])} columns)")
    else:
        typer.echo(f"nothing written: add -o out.csv for {len(summary['columns'])} columns")
