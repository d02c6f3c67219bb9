"""`mechid verify-certificate`: recheck the number of base parameters."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Json, print_json, print_notes, print_pairs


def verify_certificate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Certificate of `mechid base`.")],
    json: Json = False,
) -> None:
    """Recheck a certificate without trusting how it was found.

    The model is in the file. Transfers are derived from its joints again, poses are enclosed again,
    and the two minors must exclude zero. Ends with 0 if everything the certificate says was found
    again, with 1 if not.
    """
    from mechid.base.certificate import read_certificate
    from mechid.base.verify import verify
    from mechid.cli.progress import interruptible, progress

    given = read_certificate(file)
    with interruptible() as interrupt, progress("poses enclosed", 1.0) as show:

        def watch(done: int, of: int) -> None:
            interrupt()
            show(done / of)

        found = verify(given, watch)
    if json:
        print_json(asdict(found))
    else:
        print_pairs(
            [
                ("parameters", str(found.parameters)),
                ("upper bound", str(found.upper)),
                ("lower bound", str(found.lower)),
                ("certificate", "valid" if found.valid else "NOT valid"),
                ("certified", "yes" if found.certified else "no"),
            ]
        )
        print_notes(found.notes)
    if not found.valid:
        raise typer.Exit(1)
