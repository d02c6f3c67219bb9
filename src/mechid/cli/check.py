"""`mechid check`: read, assemble and count a mechanism."""

from __future__ import annotations

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
from mechid.errors import DataError, MechidError
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.kinematics.mobility import Mobility
    from mechid.kinematics.model import KinematicModel
    from mechid.mechanism.planar import Tilt

_ROUNDING = 1e-15  # m or rad, in the table: an assembled coordinate meant to be zero


def check(
    model: Model,
    align: Annotated[
        bool,
        typer.Option(
            "--align", help="Make axes of planar loops parallel that are off by rounded numbers."
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="With --align: model file to write.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Read a model, close its loops and count what can move.

    Says how many degrees of freedom the mechanism really has, which constraints are redundant, and
    whether the declared coordinates determine the motion. A model that is wrong ends with one line
    that says what, where, and what to do.
    """
    if align != (output is not None):
        raise DataError("--align and --output go together", remedy="give both: --align -o FILE")
    check_outputs(output, force=force, inputs=[model])
    turned: tuple[Tilt, ...] = ()
    if output is not None:
        turned = write_aligned(model, output)
        model = str(output)
    found = checked(model)
    if output is not None:
        found |= {"aligned": {t.joint: t.angle for t in turned}, "output": str(output)}
    if json:
        print_json(found)
    else:
        _show(found)


def checked(model: str) -> dict[str, Any]:
    """Load, assemble and count a model; return what `check` says of it.

    Few poses are needed: to load the compiled kernels would take longer.
    """
    from mechid.dynamics.compile import dynamic_model
    from mechid.kinematics.kernels.jit import interpreted
    from mechid.kinematics.mobility import check_independent, mobility

    with interpreted():
        ready = load_model(model, tell=False)
        try:
            counted = mobility(ready.mechanism)
            check_independent(ready.mechanism, counted)
            dynamic_model(ready.mechanism)  # force elements that cannot act are errors too
        except MechidError as error:
            raise error.located(model) from None
        return report(ready, counted)


def write_aligned(model: str, output: Path) -> tuple[Tilt, ...]:
    """Write a model with parallel axes; return what was turned."""
    from mechid.importing.load import load
    from mechid.mechanism.planar import aligned
    from mechid.modelfile.api import save

    mechanism, turned = aligned(load(model))
    save(mechanism, output)
    return turned


def report(model: KinematicModel, m: Mobility) -> dict[str, Any]:
    """Return everything that `check` says, ready for JSON."""
    from mechid.tables.quality import closure_residual, model_warnings

    mechanism = model.mechanism
    masses = [body.inertia.mass for body in mechanism.bodies if body.inertia is not None]
    return {
        "name": mechanism.name,
        "title": mechanism.title,
        "bodies": m.bodies,
        "joints": dict(m.joints),
        "grubler": m.grubler,
        "dof": m.dof,
        "redundant_constraints": m.redundant_constraints,
        "passive_dof": m.passive_dof,
        "coordinates": [
            {"name": c.name, "unit": c.unit, "force": c.force, "assembled": float(value)}
            for c, value in zip(mechanism.coordinates, model.home_y, strict=True)
        ],
        "constraints": [c.name for c in mechanism.constraints],
        "cut_joints": [joint.name for joint in model.tree.cut],
        "redundant": list(m.redundant),
        "passive": list(m.passive),
        "rank_gap": m.gap,
        "closure_residual": float(closure_residual(model, model.home_q[None])[0]),
        "size": model.size,
        "mass": sum(masses),
        "warnings": list(model_warnings(model, m)),
    }


def _show(found: dict[str, Any]) -> None:
    letters = "  ".join(f"{count} {letter}" for letter, count in found["joints"].items())
    typer.echo(f"{found['name']}: {found['title']}" if found["title"] else found["name"])
    typer.echo("")
    print_pairs(
        [
            ("moving bodies", str(found["bodies"])),
            ("joints", f"{sum(found['joints'].values())}  ({letters})"),
            *_constraints(found["constraints"]),
            ("Grübler count", str(found["grubler"])),
            ("degrees of freedom", str(found["dof"])),
            ("redundant constraints", _lines(found["redundant_constraints"], found["redundant"])),
            ("passive motions", _lines(found["passive_dof"], found["passive"])),
            ("cut joints", _listed(len(found["cut_joints"]), found["cut_joints"])),
            ("closure residual", f"{found['closure_residual']:.1e}"),
            ("rank gap", f"{found['rank_gap']:.1e}"),
            ("size", f"{found['size']:.4g} m"),
            ("mass", f"{found['mass']:.4g} kg"),
        ]
    )
    typer.echo("")
    print_table(
        ("coordinate", "unit", "assembled", "force"),
        [
            (c["name"], c["unit"], f"{_settled(c['assembled']):.6g}", c["force"])
            for c in found["coordinates"]
        ],
    )
    print_notes(found["warnings"], "warning")
    for name, angle in found.get("aligned", {}).items():
        typer.echo(f"note: the axis of {name} was off by {angle:.2g} rad, now parallel")
    if "output" in found:
        typer.echo(f"wrote {found['output']}")


def _constraints(names: list[str]) -> list[tuple[str, str]]:
    return [("couplings, distances", _listed(len(names), names))] if names else []


def _listed(count: int, names: list[str]) -> str:
    return f"{count}  ({', '.join(names)})" if names else str(count)


def _lines(count: int, names: list[str]) -> str:
    return "\n".join([str(count), *names])


def _settled(value: float) -> float:
    return 0.0 if abs(value) < _ROUNDING else value
