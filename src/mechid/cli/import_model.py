"""`mechid import`: a URDF or MJCF file as a model file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, print_json, print_notes, print_pairs
from mechid.cli.record_options import with_option_names
from mechid.outputs import check_outputs, write_text


class Base(StrEnum):
    """Where a robot stands."""

    FILE = "file"
    FIXED = "fixed"
    FREE = "free"


def import_model(
    file: Annotated[Path, typer.Argument(help="A URDF file (.urdf) or an MJCF file (.xml).")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Model file to write; default: NAME.yaml."),
    ] = None,
    force: Force = False,
    base: Annotated[
        Base, typer.Option(help="Fix the robot to the ground, or let it float; file: as it says.")
    ] = Base.FILE,
    keep_fixed: Annotated[
        bool,
        typer.Option("--keep-fixed", help="Keep links behind fixed joints; default: merge them."),
    ] = False,
    loops: Annotated[
        Path | None, typer.Option(help="YAML file of joints that close loops.", show_default=False)
    ] = None,
    keyframe: Annotated[
        str | None,
        typer.Option(help="Keyframe of an MJCF file as reference pose.", show_default=False),
    ] = None,
    right_angles: Annotated[
        bool,
        typer.Option("--right-angles", help="Read 1.5708 and other angles near 90° as right ones."),
    ] = False,
    identify_elements: Annotated[
        bool,
        typer.Option(
            "--identify-elements", help="Friction, springs and rotors are to be identified."
        ),
    ] = False,
    density: Annotated[
        float | None,
        typer.Option(
            help="Of links of a URDF that have shapes and no inertia, kg/m³; default: massless.",
            show_default=False,
        ),
    ] = None,
    ignore_meshes: Annotated[
        bool, typer.Option("--ignore-meshes", help="Give meshes no mass.")
    ] = False,
    root: Annotated[
        Path | None,
        typer.Option(
            help="Folder of included files and meshes; default: that of FILE.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a URDF or MJCF file as a model file.

    Prints what was left out, renamed and decided; the same stands at the top of the model file.
    Other commands take URDF and MJCF files too, and read them with the defaults of this one.
    """
    from mechid.importing.api import import_model as imported

    check_outputs(output, force=force, inputs=[file, loops])
    found = imported(
        file,
        base=base.value,
        keep_fixed=keep_fixed,
        loops=loops,
        keyframe=keyframe,
        right_angles=right_angles,
        identify_elements=identify_elements,
        density=density,
        ignore_meshes=ignore_meshes,
        root=root,
    )
    mechanism = found.mechanism
    path = output or Path(f"{mechanism.name}.yaml")
    check_outputs(path, force=force, inputs=[file, loops])
    write_text(path, found.text)
    if json:
        print_json(
            {
                "file": str(path),
                "name": mechanism.name,
                "bodies": [body.name for body in mechanism.bodies],
                "joints": [joint.name for joint in mechanism.joints],
                "coordinates": [c.name for c in mechanism.coordinates],
                "left_out": list(found.left_out),
                "renamed": [
                    {"what": what, "from": old, "to": new} for what, old, new in found.renamed
                ],
                "notes": list(found.notes),
            }
        )
        return
    print_pairs(
        [
            ("moving bodies", str(len(mechanism.bodies))),
            ("joints", str(len(mechanism.joints))),
            ("couplings", str(len(mechanism.constraints))),
            ("coordinates", str(len(mechanism.coordinates))),
            ("force elements", str(len(mechanism.elements))),
        ]
    )
    print_notes(found.left_out, "left out")
    print_notes((f"{what} {old} to {new}" for what, old, new in found.renamed), "renamed")
    print_notes(with_option_names(note) for note in found.notes)
    typer.echo(f"wrote {path}")
