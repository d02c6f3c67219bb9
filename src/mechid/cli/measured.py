"""Options that commands on measurements share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Logs: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG…",
        help="Measured positions and forces, one log or several: .csv, .txt, .parquet, .mat, .h5, "
        ".mf4, ROS bag; a log of several files as FILE+FILE; a part of one as FILE@FROM:TO, in "
        "seconds from its start.",
    ),
]
Map: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        "-m",
        help="Mapping file: channels and units of the data (.yaml); LOG=FILE for a single log. May "
        "be repeated.",
        show_default=False,
    ),
]
Estimator: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="auto (parameters and everything that may be wrong together, with CAD values), map "
        "(CAD values and noise, errors of the forces as they are set), physical or log-cholesky "
        "(physically consistent bodies), ols, weighted, ridge, truncated, huber, iv.",
        show_default="auto",
    ),
]
Setting: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Setting of the estimator, NAME=VALUE, as scale=1, inner=map, "
        "penalty=0.1; may be repeated.",
        show_default=False,
    ),
]
Without: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Errors that are not there, with commas: offsets, gains, drifts, delays, "
        "friction, places, coefficients, elasticity.",
        show_default="all are looked for",
    ),
]
Only: TypeAlias = Annotated[
    str | None,
    typer.Option(help="All errors that may be there, likewise; or none.", show_default="all"),
]
Usual: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Usual sizes of errors where they are known, as offsets=2%, delays=0.5 (samples).",
        show_default="of measured machines",
    ),
]
Details: TypeAlias = Annotated[
    bool, typer.Option("--details", help="Print all values, tables and notes.")
]
CadError: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Relative error of the CAD values, as 20%; default: what the model declares, and 20% "
        "of values for which it declares nothing."
    ),
]
Noise: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Declared noise of the forces: 5% of each, FORCE=12.5 (N, N m) or FORCE=5% "
        "of single ones; may be repeated.",
        show_default=False,
    ),
]
Hardpoints: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="How well the places of joints are known: standard deviation in every axis, m, or % "
        "of the size of the mechanism; or JOINT=SIZE; may be repeated. 0: exactly.",
        show_default="fine tolerances",
    ),
]
Weigh: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Measured mass, BODY=MASS±SIGMA in kg, as arm=3.4±0.05 or arm=3.4+-0.05; of bodies "
        "together a+b=5.1; may be repeated.",
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
        help="Reduce the model, eliminating by contribution, stacked-contribution (N and "
        "N m alike), deviation (relative standard deviation) or greedy.",
        show_default="not",
    ),
]
Size: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Of the reduced model: a number, limits (low error at a low condition number), or "
        "cross (validation), which auto means.",
        show_default="auto",
    ),
]
Rest: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Eliminated parameters are zero, or stay at cad; auto: cad with a prior.",
        show_default="auto",
    ),
]
Base: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Base set: a name of the model file, a .yaml file with `dependent`, names of "
        "dependent parameters with commas, or balanced, first, last, terms, condition as for "
        "`mechid base --rank-by`.",
        show_default="balanced",
    ),
]
ConvergeOn: TypeAlias = Annotated[
    str | None, typer.Option(help="Bodies in which inertia gathers, with commas.")
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Of everything random.")]
Force: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace the run in the folder, if there is one.")
]
Period: TypeAlias = Annotated[
    float | None, typer.Option(help="Period of a motion that repeats, s: a Fourier series is used.")
]
Cutoff: TypeAlias = Annotated[
    float | None, typer.Option(help="Cut-off of the low-pass filter of positions, Hz.")
]
Decimation: TypeAlias = Annotated[
    int | None, typer.Option(help="Keep every nth sample of W and forces, filtered.")
]
Friction: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Friction of joints, and inertia of their drives, besides that of the model: keep "
        "(none), auto (what is more likely there than not), or names with commas: "
        "coulomb, viscous, asymmetric, stribeck, quadratic, hysteresis, load, rotor.",
        show_default="auto with the estimator auto, else keep",
    ),
]
Standstill: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Forces near standstill: keep, auto (ignored where residuals are much larger there), "
        "or a speed in m/s or rad/s below which they are ignored.",
        show_default="keep",
    ),
]
