"""`mechid schema`: the JSON Schema of model, trajectory, mapping and study files."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force
from mechid.outputs import check_outputs, write_text


class Kind(StrEnum):
    """Files that have a schema."""

    MODEL = "model"
    TRAJECTORY = "trajectory"
    MEASUREMENT = "measurement"
    STUDY = "study"


def schema(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="Of model files, trajectory files, mapping files of measurements, or study files."
        ),
    ] = Kind.MODEL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it here instead of printing it.")
    ] = None,
    force: Force = False,
) -> None:
    """Print the JSON Schema of a kind of file, with which editors complete and check it."""
    if kind is Kind.MODEL:
        from mechid.modelfile import json_schema
    elif kind is Kind.TRAJECTORY:
        from mechid.trajectoryfile.document import trajectory_schema as json_schema
    elif kind is Kind.STUDY:
        from mechid.studies.document import study_schema as json_schema
    else:
        from mechid.measurementfile import json_schema

    text = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        check_outputs(output, force=force)
        write_text(output, text)
        typer.echo(f"wrote {output}")
