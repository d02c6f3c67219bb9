"""`mechid schema`: the JSON Schema of model files or trajectory files."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import write_text


class FileKind(StrEnum):
    """Kinds of files."""

    model = "model"
    trajectory = "trajectory"


def schema(
    of: Annotated[FileKind, typer.Option(help="Of which files.")] = FileKind.model,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it here instead of printing it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Print the JSON Schema of a kind of files, with which editors complete and check them."""
    from mechid.modelfile import json_schema
    from mechid.trajectoryfile.document import trajectory_schema

    made = json_schema() if of is FileKind.model else trajectory_schema()
    text = json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text, force=force)
        typer.echo(f"wrote {output}")
