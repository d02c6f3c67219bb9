"""`mechid payload`: what is attached to a body, from a log with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mechid.cli.common import Force, Json, print_json, print_notes, print_pairs, print_table
from mechid.cli.measured import Cutoff, Decimation, Map, Period
from mechid.cli.predict import RunArgument
from mechid.outputs import check_outputs


def payload(
    run: RunArgument,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA…",
            help="Logs with the payload attached; the same forces as in the run. A log of several "
            "files as FILE+FILE, a part of one as FILE@FROM:TO.",
        ),
    ],
    body: Annotated[
        str | None,
        typer.Option(
            help="Body that it is attached to; default: the one with a single joint, the end of "
            "the chain.",
            show_default=False,
        ),
    ] = None,
    known_mass: Annotated[
        str | None,
        typer.Option(help="Measured mass of the payload, kg: 2.5 or 2.5±0.01 (2.5+-0.01)."),
    ] = None,
    mapping: Map = None,
    period: Period = None,
    cutoff: Cutoff = None,
    decimation: Decimation = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write: .json (everything) or .csv."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find mass, centre of mass and inertia of something rigidly attached to a body.

    The model of the run, identified without the payload, is the prior, with its uncertainty; what
    the forces cannot show of the ten parameters is said. Numbers are in the frame of the body.
    """
    from mechid.measurementfile.join import log_files
    from mechid.measurementfile.read import file_and_part
    from mechid.runs.payload import check_ending, write_payload
    from mechid.tasks.payload import payload as work

    if output is not None:
        check_ending(output)
    files = [file for log in data for file in log_files(file_and_part(log)[0])]
    check_outputs(output, force=force, inputs=files)
    found = work(
        run,
        data,
        body=body,
        known_mass=known_mass,
        mapping=mapping,
        period=period,
        cutoff=cutoff,
        decimation=decimation,
    )
    if output is not None:
        write_payload(found, output)
    result = found.to_json() | {"output": [] if output is None else [str(output)]}
    if json:
        print_json(result)
    else:
        _show(result)


def _show(found: dict[str, Any]) -> None:
    groups = ", ".join(group["group"] for group in found["groups"])
    print_pairs(
        [
            ("attached to", f"{found['body']} of {found['model']}"),
            ("determined", f"{found['rank']} of 10 combinations: {groups}"),
        ]
    )
    typer.echo("")
    rows = found["central"] | {k: v for k, v in found["parameters"].items() if k != "m"}
    print_table(
        ("quantity", "value", "σ", "unit"),
        [(name, _word(x["value"]), _word(x["sigma"], 2), x["unit"]) for name, x in rows.items()],
    )
    typer.echo("")
    print_table(
        ("force", "noise", "error without payload", "with"),
        [
            (name, f"{f['noise']:.3g}", f"{f['error_without']:.1%}", f"{f['error']:.1%}")
            for name, f in found["forces"].items()
        ],
    )
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    for path in found["output"]:
        typer.echo(f"wrote {path}")


def _word(value: float, digits: int = 5) -> str:
    return "not determined" if value != value else f"{value:.{digits}g}"
