"""Assemble a suspension, move it, and write an animated page: `python -m mechid.demo`."""

from __future__ import annotations

import time
from pathlib import Path

MODEL = "sla_suspension"
FOLDER = Path("demo")
TRACES = ("wheel_r.K_r", "wheel_l.K_l")


def main(folder: Path = FOLDER) -> None:
    """Run the demonstration; what it writes goes to `folder`."""
    begin = time.perf_counter()
    print("mechid: a short-long-arm suspension, steered and driven over bumps")
    print("(the first run compiles the kernels, which takes about a minute)\n", flush=True)
    from mechid.kinematics.branch import singularity_margin
    from mechid.kinematics.mobility import mobility
    from mechid.kinematics.model import kinematic_model
    from mechid.kinematics.motion import solve_motion
    from mechid.modelfile import load
    from mechid.tables import closure_residual, coordinate_columns, point_columns, write_table
    from mechid.view import tour, write_page

    mechanism = load(MODEL)
    model = kinematic_model(mechanism)
    m = mobility(mechanism)
    joints = "  ".join(f"{count} {letter}" for letter, count in m.joints.items())
    _table(
        ("moving bodies", m.bodies),
        ("joints", f"{sum(m.joints.values())}  ({joints})"),
        ("loops cut at", ", ".join(joint.name for joint in model.tree.cut)),
        ("Grübler count", m.grubler),
        ("degrees of freedom", m.dof),
        ("redundant constraints", m.redundant_constraints),
        ("independent coordinates", ", ".join(c.name for c in mechanism.coordinates)),
    )

    shown = tour(model)
    solving = time.perf_counter()
    motion = solve_motion(model, shown.y, shown.yd, shown.ydd, time=shown.time)
    solved = time.perf_counter() - solving
    assert motion.time is not None
    _table(
        ("motion", f"{len(motion.time)} samples, {motion.time[-1]:g} s"),
        ("worst closure error", f"{closure_residual(model, motion.q).max():.1e} m"),
        ("singularity margin", f"at least {singularity_margin(model, motion.q).min():.2g}"),
        ("loops solved in", f"{1e3 * solved:.0f} ms"),
    )

    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "motion.csv"
    columns = {"time": motion.time, **coordinate_columns(motion), **point_columns(motion, TRACES)}
    write_table(table, columns)
    page = write_page(mechanism, folder / f"{MODEL}.html", motion, TRACES)
    _table(
        ("page, for a browser", page.resolve()),
        ("coordinates and wheel centres", table.resolve()),
        ("whole demonstration", f"{time.perf_counter() - begin:.1f} s"),
    )


def _table(*rows: tuple[str, object]) -> None:
    for name, value in rows:
        print(f"  {name:<31}{value}")
    print()


if __name__ == "__main__":
    main()
