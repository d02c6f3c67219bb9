"""`mechid verify-certificate`: recheck the number of base parameters."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Json, print_json, print_notes, print_pairs


def verify_certificate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Certificate of `mechid base`.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="Check what the certificate says about this model, and not about the one that it "
            "holds: a model file or a name of the zoo."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Recheck a certificate without trusting how it was found.

    The model is in the file, or given by --model. Transfers are derived from its joints again,
    poses are enclosed again, the states must be those of the experiment, and the two minors must
    exclude zero. Ends with 0 if everything the certificate says was found again, with 1 if not.

    Example: mechid verify-certificate four_bar.json --model four_bar
    """
    from mechid.base.certificate import read_certificate
    from mechid.base.verify import verify
    from mechid.cli.progress import interruptible, progress
    from mechid.errors import MechidError
    from mechid.importing.load import load

    given = read_certificate(file)
    own = None if model is None else load(model)
    with interruptible() as interrupt, progress("poses enclosed", 1.0) as show:

        def watch(done: int, of: int) -> None:
            interrupt()
            show(done / of)

        try:
            found = verify(given, watch, model=own)
        except MechidError as error:
            raise error.located(str(file)) from None
    if json:
        print_json(asdict(found) | {"proved": found.proved, "model_from": model or str(file)})
    else:
        names = ("parameters", "upper bound", "lower bound")
        rechecked = (found.parameters, found.upper, found.lower)
        gravity = " ".join(f"{x:g}" for x in found.gravity)
        print_pairs(
            [
                ("model", f"{found.model}, from {model or 'the certificate'}"),
                ("gravity", f"{gravity} m/s²"),
                ("experiment", found.experiment),
                *(
                    (name, f"{x} found, {claim} claimed")
                    for name, x, claim in zip(names, rechecked, found.claimed, strict=True)
                ),
                ("certificate", "valid" if found.valid else "NOT valid"),
                ("certified", "yes" if found.certified else "no"),
                ("proved", found.proved),
            ]
        )
        print_notes(found.notes)
    if not found.valid:
        raise typer.Exit(1)
