"""`mechid identify-streamed`: base parameters from a log that is too long for memory."""

from __future__ import annotations

from typing import Annotated

import typer

from mechid.cli.common import Json, Model, print_json, print_notes, print_pairs, print_table
from mechid.cli.measured import CadError, Cutoff, Decimation


def identify_streamed(
    model: Model,
    log: Annotated[
        str,
        typer.Argument(
            metavar="LOG",
            help=".csv or .parquet in SI units, at a constant rate and without gaps; columns are "
            "named as what they are.",
        ),
    ],
    estimator: Annotated[
        str, typer.Option(help="map, weighted or ols: those that need no order of samples.")
    ] = "map",
    cad_error: CadError = None,
    cutoff: Cutoff = None,
    decimation: Decimation = None,
    json: Json = False,
) -> None:
    """Identify the base parameters from a log of any length, in bounded memory.

    The log is read in blocks, and one triangle of a QR factorisation per force is kept. Noise is
    taken as white: a warning says by how much standard deviations are too small if it is not. For
    everything else that `mechid identify` does, use a part of the log or a lower rate.
    """
    from mechid.tasks.streamed import identify_streamed as work

    found = work(
        model,
        log,
        estimator=estimator,
        cad_error=cad_error,
        cutoff=cutoff,
        decimation=decimation,
    )
    estimate = found.estimate
    values = list(zip(estimate.parameters, estimate.values, estimate.sigma, strict=True))
    if json:
        print_json(
            {
                "model": model,
                "log": log,
                "method": estimate.method,
                "samples": found.samples,
                "used": found.used,
                "cutoff": found.cutoff,
                "decimation": found.decimation,
                "parameters": [
                    {"name": name, "value": float(value), "sigma": float(sigma)}
                    for name, value, sigma in values
                ],
                "E_p": found.E_p,
                "lag_one": found.lag_one,
                "warnings": list(found.warnings),
            }
        )
        return
    print_pairs(
        [
            ("samples", f"{found.samples}, of which {found.used} after the parallel filter"),
            ("cut-off", "-" if found.cutoff is None else f"{found.cutoff:.4g} Hz"),
            *((f"E_p of {force}", f"{error:.2%}") for force, error in found.E_p.items()),
        ]
    )
    typer.echo("")
    print_table(
        ("parameter", "value", "standard deviation"),
        [(name, f"{value:.6g}", f"{sigma:.2g}") for name, value, sigma in values],
    )
    print_notes(found.warnings, "warning")
