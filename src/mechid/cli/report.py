"""`mechid report`: one page that tells what a run used, did and found, or compares several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mechid.cli.common import Force, Json, print_json
from mechid.cli.progress import status
from mechid.errors import DataError
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.runs.record import Run


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

    With --json, the verdict is printed as JSON, and a page is written only with --output.

    Example: mechid report run, or mechid report run1 run2 -o compare.html
    """
    from mechid.options import to_words
    from mechid.runs.folder import load_run
    from mechid.runs.verdict import verdict

    page = output
    if page is None and not json:
        if len(runs) > 1:
            raise DataError("a page that compares runs needs a name", remedy="add -o compare.html")
        page = runs[0] / "report.html"
    if certify and len(runs) > 1:
        raise DataError("--certify belongs to the report of one run", remedy="leave it out")
    if len(set(runs)) < len(runs):
        raise DataError("a run is given twice", remedy="give two different runs to compare")
    found = {str(run): load_run(run) for run in runs}
    check_outputs(page, force=force)
    verdicts = {name: verdict(run) for name, run in found.items()}
    if page is not None:
        _write(found, page, certify)
    if json:
        words = [{"run": name, "verdict": to_words(v)} for name, v in verdicts.items()]
        print_json({"output": [] if page is None else [str(page)], "runs": words})
    elif page is not None:
        typer.echo(f"wrote {page} ({page.stat().st_size / 1e6:.1f} MB)")
        for name, v in verdicts.items():
            for line in v.lines:
                typer.echo(f"{name}: {line}" if len(found) > 1 else line)
    if open_page and page is not None:
        typer.launch(page.resolve().as_uri())


def _write(runs: dict[str, Run], page: Path, certify: bool) -> None:
    with status("report"):
        from mechid.report import write_comparison, write_report

        if len(runs) > 1:
            write_comparison(runs, page)
        else:
            (run,) = runs.values()
            write_report(run, page, certify=certify)
