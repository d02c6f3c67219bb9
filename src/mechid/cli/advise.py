"""`mechid advise`: what to measure, and for how long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, Model, print_json, print_table
from mechid.errors import DataError
from mechid.outputs import check_outputs


def advise(
    model: Model,
    forces: Annotated[
        str, typer.Option(help="Forces that can be measured, with commas; default: all.")
    ] = "",
    target: Annotated[
        str, typer.Option(help="Prediction error that is wanted, mean over all forces.")
    ] = "E_p<5%",
    motion: Annotated[
        Path | None,
        typer.Option(help="Trajectory file (.yaml) to judge; default: a motion is designed."),
    ] = None,
    noise: Annotated[str, typer.Option(help="Noise of the forces, relative to each.")] = "5%",
    cad_error: Annotated[
        str | None,
        typer.Option(help="Error of the CAD values, as 20%; default: as the model declares."),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second.")] = None,
    frequency: Annotated[float, typer.Option(help="Of the designed motion, Hz.")] = 1.0,
    draws: Annotated[
        int, typer.Option(min=0, help="Synthetic logs that are identified as a check.")
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Trajectory file to write, .yaml.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Say how long to measure, with which motion, which sensor is missing, and what stays with CAD.

    A motion is designed and compared with random ones, expected errors follow from the noise and
    from the uncertainty of the CAD values, and a few synthetic logs are identified as a check.
    """
    from mechid.cli.progress import steps
    from mechid.trajectoryfile.api import YAML_SUFFIXES, save_trajectory

    if output is not None and output.suffix not in YAML_SUFFIXES:
        raise DataError("a trajectory file ends in .yaml", where=str(output))
    check_outputs(output, force=force, inputs=[model, motion])
    with steps() as watch:  # loading takes seconds, too
        from mechid.studies.advise import advise as work

        found = work(
            model,
            forces=forces,
            target=target,
            motion=motion,
            noise=noise,
            cad_error=cad_error,
            rate=rate,
            frequency=frequency,
            draws=draws,
            seed=seed,
            watch=watch,
        )
    if output is not None:
        save_trajectory(found.trajectory, output)
    if json:
        print_json(
            {
                "model": found.model,
                "target": found.target,
                "forces": found.forces,
                "seconds": found.seconds,
                "random_seconds": found.random_seconds,
                "rate": found.rate,
                "errors": [
                    {"seconds": s, "designed": d, "random": r} for s, (d, r) in found.errors.items()
                ],
                "cad": found.cad,
                "without": found.without,
                "sensors": found.sensors,
                "determined": found.determined,
                "resting": found.resting,
                "checked": found.checked,
                "inside": found.inside if found.checked else None,
                "advice": found.words,
                "output": None if output is None else str(output),
            }
        )
        return
    for text in found.words:
        typer.echo(f"- {text}")
    typer.echo()
    rows = [(f"{s:.4g}", f"{d:.2%}", f"{r:.2%}") for s, (d, r) in list(found.errors.items())[:8]]
    print_table(("seconds", "E_p, this motion", "E_p, random motion"), rows)
    if output is not None:
        typer.echo(f"wrote {output}")
