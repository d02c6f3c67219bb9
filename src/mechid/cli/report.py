"""`mechid report`: one page that tells what a run used, did and found, or compares several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechid.cli.common import Force, Json, print_json
from mechid.errors import DataError
from mechid.outputs import check_outputs


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Folder of a run, or of several to compare.", metavar="RUN…"),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Page to write; of several runs required.",
            show_default="RUN/report.html",
        ),
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove the number of base parameters.")
    ] = False,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    json: Json = False,
    force: Force = False,
) -> None:
    """Write one HTML page about a run, or one that compares several; it needs no network.

    A verdict first: can the model be trusted, which parameters matter, what to do next. Then the
    mechanism moving along the measured motion, its bodies and parameters with their uncertainty,
    measured and predicted forces, the validation, and how to repeat the run.

    With --json, the verdict is printed as JSON.

    Example: mechid report run, or mechid report run1 run2 -o compare.html
    """
    from mechid.options import to_words
    from mechid.report import write_comparison, write_report
    from mechid.runs.folder import load_run
    from mechid.runs.verdict import verdict

    page = output or (runs[0] / "report.html" if len(runs) == 1 else None)
    check_outputs(page, force=force)
    found = [load_run(run) for run in runs]
    if len(runs) == 1 and page is not None:
        path = write_report(found[0], page, certify=certify)
    elif output is None:
        raise DataError("a page that compares runs needs a name", remedy="add -o compare.html")
    elif certify:
        raise DataError("--certify belongs to the report of one run", remedy="leave it out")
    else:
        names = [str(run) for run in runs]
        path = write_comparison(dict(zip(names, found, strict=True)), output)
    if json:
        verdicts = [
            {"run": str(folder), "verdict": to_words(verdict(run))}
            for folder, run in zip(runs, found, strict=True)
        ]
        print_json({"output": [str(path)], "runs": verdicts})
    else:
        typer.echo(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
        for folder, run in zip(runs, found, strict=True):
            about = f"{folder}: " if len(runs) > 1 else ""
            for line in verdict(run).lines:
                typer.echo(f"{about}{line}")
    if open_page:
        typer.launch(path.resolve().as_uri())
