"""`mechid schema`: the JSON Schema of the model file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import write_text


def schema(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it here instead of printing it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Print the JSON Schema of model files, with which editors complete and check them."""
    from mechid.modelfile import json_schema

    text = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text, force=force)
        typer.echo(f"wrote {output}")
