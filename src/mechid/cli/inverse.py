"""`mechid inverse`: a motion in, the forces that it takes out."""

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
    solve_file,
)
from mechid.cli.reactions import (
    multiplier_summary,
    print_multipliers,
    print_reactions,
    reaction_summary,
)
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.dynamics.inverse import InverseDynamics
    from mechid.kinematics.motion import Motion


class Formulation(StrEnum):
    """Which equations the forces come from."""

    TREE = "tree"
    REFERENCE_POINT = "reference-point"


class Elimination(StrEnum):
    """How the second formulation eliminates constraint forces."""

    PARTITION = "partition"
    SVD = "svd"
    QR = "qr"
    GAUSS = "gauss"


def inverse(
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
    reactions: Annotated[
        bool, typer.Option("--reactions", help="Forces and moments in every joint, too.")
    ] = False,
    formulation: Annotated[
        Formulation,
        typer.Option(help="reference-point is the independent check: some 0.01 s per sample."),
    ] = Formulation.TREE,
    elimination: Annotated[
        Elimination | None,
        typer.Option(
            help="How reference-point eliminates constraint forces.", show_default="partition"
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot to write: .png, .svg or .html.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compute the forces on the independent coordinates along a motion, with the CAD values.

    The table has a column per force, which `mechid simulate --forces` reads back. Reactions are
    columns JOINT.fx to JOINT.mz: what the joint does to its second body, at the origin of that
    body's joint frame, in ground axes. Components that redundant constraints leave open are empty.
    A base on a free joint has columns BASE.Fx to BASE.Mz: what a force plate below it measures.
    """
    from mechid.plots import check_plot_path
    from mechid.tables.files import table_suffix

    if output is not None:
        table_suffix(output)
    if plot is not None:
        check_plot_path(plot)
    check_outputs(output, plot, force=force, inputs=[model, motion])
    ready = load_model(model)
    table, moved = solve_file(ready, motion)
    chosen = None if elimination is None else elimination.value
    result = _solved(moved, reactions, formulation=formulation.value, elimination=chosen)
    written = _write(result, output, plot)
    found = summary(result) | {"output": written}
    found["notes"] = [*table.notes, *found["notes"]]
    if json:
        print_json(found)
    else:
        _show(found)


def _solved(motion: Motion, reactions: bool, **options: Any) -> InverseDynamics:
    from mechid.cli.progress import progress
    from mechid.dynamics.inverse import inverse_dynamics

    if not reactions:
        return inverse_dynamics(motion, **options)
    with progress("reactions", len(motion.y)) as show:
        return inverse_dynamics(motion, reactions=True, watch=show, **options)


def _write(result: InverseDynamics, output: Path | None, plot: Path | None) -> list[str]:
    from mechid.tables.files import write_table
    from mechid.tables.forces import inverse_columns

    if output is not None:
        write_table(output, inverse_columns(result))
    if plot is not None:
        from mechid.plots import inverse_panels, save_plot

        mechanism = result.motion.model.mechanism
        save_plot(plot, inverse_panels(result), mechanism.title or mechanism.name)
    return [str(path) for path in (output, plot) if path is not None]


def summary(result: InverseDynamics) -> dict[str, Any]:
    """Return everything that `inverse` says, ready for JSON."""
    import numpy as np

    from mechid.tables.forces import force_unit
    from mechid.tables.quality import limit_notes

    motion = result.motion
    assert motion.time is not None
    found: dict[str, Any] = {
        "model": motion.model.mechanism.name,
        "samples": len(motion.time),
        "start": float(motion.time[0]),
        "end": float(motion.time[-1]),
        "forces": {},
        "notes": list(limit_notes(motion)),
    }
    for c, values in zip(motion.model.mechanism.coordinates, result.tau.T, strict=True):
        found["forces"][c.force] = {
            "coordinate": c.name,
            "unit": force_unit(c),
            "max_abs": float(np.abs(values).max()),
            "rms": float(np.sqrt(np.mean(values**2))),
        }
    found["sensed"] = {
        name: {
            "unit": "N" if name.rpartition(".")[2][0] == "F" else "N m",
            "max_abs": float(np.abs(values).max()),
            "rms": float(np.sqrt(np.mean(values**2))),
        }
        for name, values in result.sensed.items()
    }
    if result.reactions is not None:
        found["reactions"] = reaction_summary(result.reactions)
        found["constraints"] = multiplier_summary(result.reactions)
    return found


def _show(found: dict[str, Any]) -> None:
    print_pairs([("samples", f"{found['samples']}, {found['start']:g} s to {found['end']:g} s")])
    typer.echo("")
    print_table(
        ("force", "unit", "on", "largest", "rms"),
        [
            (name, f["unit"], f["coordinate"], f"{f['max_abs']:.6g}", f"{f['rms']:.6g}")
            for name, f in found["forces"].items()
        ],
    )
    if found["sensed"]:
        typer.echo("")
        print_table(
            ("sensed", "unit", "largest", "rms"),
            [
                (name, f["unit"], f"{f['max_abs']:.6g}", f"{f['rms']:.6g}")
                for name, f in found["sensed"].items()
            ],
        )
    if "reactions" in found:
        typer.echo("")
        print_reactions(found["reactions"])
        print_multipliers(found["constraints"])
    print_notes(found["notes"])
    for path in found["output"]:
        typer.echo(f"wrote {path}")
