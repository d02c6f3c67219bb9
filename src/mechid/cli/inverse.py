"""`mechid inverse`: a motion in, the forces that it takes out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.common import (
    Json,
    Model,
    load_model,
    print_json,
    print_notes,
    print_pairs,
    print_table,
    solve_file,
)

if TYPE_CHECKING:
    from mechid.dynamics.inverse import InverseDynamics
    from mechid.kinematics.motion import Motion


def inverse(
    model: Model,
    motion: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION", help="CSV or Parquet table: time and the independent coordinates."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .csv or .parquet.")
    ] = None,
    reactions: Annotated[
        bool, typer.Option("--reactions", help="Forces and moments in every joint, too.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Plot to write: .png, .svg or .html.")] = None,
    json: Json = False,
) -> None:
    """Compute the forces on the independent coordinates along a motion, with the CAD values.

    The table has a column per force, which `mechid simulate --forces` reads back. Reactions are
    columns JOINT.fx to JOINT.mz: what the joint does to its second body, at the origin of that
    body's joint frame, in ground axes. Components that redundant constraints leave open are empty.
    """
    from mechid.plots import check_plot_path
    from mechid.tables.files import table_suffix

    if output is not None:
        table_suffix(output)
    if plot is not None:
        check_plot_path(plot)
    ready = load_model(model)
    table, moved = solve_file(ready, motion)
    result = _solved(moved, reactions)
    written = _write(result, output, plot)
    found = summary(result) | {"output": written}
    found["notes"] = [*table.notes, *found["notes"]]
    if json:
        print_json(found)
    else:
        _show(found)


def _solved(motion: Motion, reactions: bool) -> InverseDynamics:
    from mechid.cli.progress import progress
    from mechid.dynamics.inverse import inverse_dynamics

    if not reactions:
        return inverse_dynamics(motion)
    with progress("reactions", len(motion.y)) as show:
        return inverse_dynamics(motion, reactions=True, watch=show)


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
    if result.reactions is not None:
        found["reactions"] = _reactions(result)
    return found


def _reactions(result: InverseDynamics) -> dict[str, Any]:
    """Return the largest force and moment of each joint, of the components that are determined."""
    import numpy as np

    from mechid.tables.forces import COMPONENTS

    r = result.reactions
    assert r is not None
    found = {}
    for j, name in enumerate(r.joints):
        left_open = np.asarray(np.any(r.undetermined[:, j], axis=0))
        force = np.where(left_open[:3], 0.0, r.force[:, j])
        moment = np.where(left_open[3:], 0.0, r.moment[:, j])
        found[name] = {
            "force_max": float(np.linalg.norm(force, axis=1).max()),
            "moment_max": float(np.linalg.norm(moment, axis=1).max()),
            "undetermined": [
                c for c, is_open in zip(COMPONENTS, left_open, strict=True) if is_open
            ],
        }
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
    if "reactions" in found:
        typer.echo("")
        print_table(
            ("joint", "largest force, N", "moment, N m", "undetermined"),
            [
                (
                    name,
                    f"{r['force_max']:.6g}",
                    f"{r['moment_max']:.6g}",
                    " ".join(r["undetermined"]),
                )
                for name, r in found["reactions"].items()
            ],
        )
    print_notes(found["notes"])
    for path in found["output"]:
        typer.echo(f"wrote {path}")
