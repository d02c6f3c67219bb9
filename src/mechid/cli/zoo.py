"""`mechid zoo`: the mechanisms that ship with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, print_json, print_table
from mechid.outputs import check_outputs, write_text


def zoo(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Print the file of this mechanism.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the file here instead.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """List the mechanisms of the zoo, or print the model file of one as a start for your own.

    With NAME@variant, the file has the variant worked in.
    """
    if name is None:
        _list(json)
        return
    text = _text(name)
    if output is None:
        typer.echo(text, nl=False)
    else:
        check_outputs(output, force=force)
        write_text(output, text)
        typer.echo(f"wrote {output}")


def _text(name: str) -> str:
    from mechid.modelfile import dumps, load, zoo_path

    if "@" not in name:
        return zoo_path(name).read_text(encoding="utf-8")
    zoo_path(name.partition("@")[0])
    return dumps(load(name))


def _list(json: bool) -> None:
    from mechid.modelfile import zoo

    if json:
        print_json(
            [
                {
                    "name": entry.name,
                    "title": entry.title,
                    "bodies": entry.bodies,
                    "joints": entry.joints,
                    "coordinates": entry.coordinates,
                    "variants": [{"name": v, "title": title} for v, title in entry.variants],
                }
                for entry in zoo()
            ]
        )
        return
    print_table(
        ("name", "bodies", "coordinates", "title, @variants"),
        [
            (
                entry.name,
                str(entry.bodies),
                str(entry.coordinates),
                "\n".join([entry.title, *_variants(entry.variants)]),
            )
            for entry in zoo()
        ],
    )


def _variants(variants: tuple[tuple[str, str], ...]) -> list[str]:
    return ["  ".join(f"@{name}" for name, _ in variants)] if variants else []
