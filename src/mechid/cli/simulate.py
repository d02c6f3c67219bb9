"""`mechid simulate`: forces in, motion out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, MaxSeconds, Model, load_model

Given = list[str] | None


class Stabilise(StrEnum):
    """What keeps the loops closed."""

    none = "none"
    baumgarte = "baumgarte"
    projection = "projection"


class Interpolate(StrEnum):
    """What happens between the samples of a table of forces."""

    linear = "linear"
    cubic = "cubic"
    hold = "hold"


def simulate(
    model: Model,
    t_end: Annotated[
        float | None,
        typer.Option("--t-end", help="Simulate from 0 to this time, s. Default: the last of --at."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="T1,T2,…", help="Print the results at these times only, s."),
    ] = None,
    rate: Annotated[
        float, typer.Option(help="Samples per second in tables, plots and pages.")
    ] = 100.0,
    formulation: Annotated[
        str,
        typer.Option(
            help="independent, gibbs-appell, explicit-gibbs-appell, udwadia-kalaba or augmented."
        ),
    ] = "independent",
    stabilise: Annotated[
        Stabilise | None,
        typer.Option(help="Default: projection; baumgarte for multistep integrators."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Baumgarte: Φ'' + 2 α Φ' + β² Φ = 0, 1/s.")] = 50.0,
    beta: Annotated[float, typer.Option(help="Baumgarte's β, 1/s.")] = 50.0,
    integrator: Annotated[
        str,
        typer.Option(help="RK23, RK45, DOP853, Radau, BDF, LSODA, CVODE, CVODE-Adams or IDA."),
    ] = "DOP853",
    rtol: Annotated[float, typer.Option(help="Relative tolerance.")] = 1e-9,
    atol: Annotated[float, typer.Option(help="Absolute tolerance.")] = 1e-11,
    max_step: Annotated[
        float | None, typer.Option("--max-step", help="Longest step of the integrator, s.")
    ] = None,
    forces: Annotated[
        Path | None,
        typer.Option(help="CSV or Parquet table: time and columns named as the forces."),
    ] = None,
    interpolation: Annotated[
        Interpolate, typer.Option(help="Between the samples of the table of forces.")
    ] = Interpolate.linear,
    apply: Annotated[
        Given, typer.Option(metavar="NAME=VALUE", help="Constant force on a coordinate, N or N m.")
    ] = None,
    drive: Annotated[
        Given,
        typer.Option(
            metavar="FILE|NAME=EXPR",
            help="Coordinates that follow a given motion: a table or trajectory of some of them, "
            'or an expression of the time t, such as "crank=0.5*sin(2*pi*t)".',
        ),
    ] = None,
    start: Annotated[
        Given, typer.Option(metavar="NAME=VALUE", help="Coordinate at the start, m or rad.")
    ] = None,
    speed: Annotated[
        Given, typer.Option(metavar="NAME=VALUE", help="Speed at the start, m/s or rad/s.")
    ] = None,
    reactions: Annotated[
        bool, typer.Option("--reactions", help="Forces and moments in every joint, too.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .csv or .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot to write: .png, .svg or .html.")] = None,
    view: Annotated[
        Path | None, typer.Option(help="Page with the moving mechanism to write: .html.")
    ] = None,
    max_seconds: MaxSeconds = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Simulate a mechanism under forces, from the start that the model file gives.

    Loads, springs, dampers and weight are those of the model; a variant brings its own. Forces on
    the independent coordinates come from --apply and --forces. Coordinates of --drive follow their
    motion instead, and the forces that this takes are results. If the simulation cannot be carried
    to its end, or Ctrl-C stops it, what was computed is written all the same.
    """
    from mechid.cli.simulation import (
        Outputs,
        applied_forces,
        carry_out,
        driven_motions,
        end,
        state_at,
        times_of,
    )
    from mechid.dynamics.simulation import SimulationOptions

    drives = [path for path in drive or [] if "=" not in path]
    outputs = Outputs(output, plot, view)
    outputs.check(force, [model, forces, *drives])
    ready = load_model(model)
    applied = applied_forces(ready.mechanism, forces, interpolation.value, apply or [])
    motions, last = driven_motions(ready.mechanism, drive or [])
    ends = [t for t in (applied.end, last) if t is not None]
    times, printed = times_of(t_end, at, rate, min(ends, default=None))
    y0, yd0 = state_at(ready, start or [], speed or [])
    options = SimulationOptions(
        formulation=formulation,
        stabilise=None if stabilise is None else stabilise.value,
        alpha=alpha,
        beta=beta,
        integrator=integrator,
        rtol=rtol,
        atol=atol,
        max_step=float("inf") if max_step is None else max_step,
    )
    done = carry_out(
        ready.mechanism,
        times,
        options,
        reactions=reactions,
        max_seconds=max_seconds,
        forces=applied.until(times[-1]),
        drive=motions,
        y0=y0,
        yd0=yd0,
    )
    outputs.write(done)
    end(done, printed, outputs, applied.notes, json)
