"""`mechid validate`: an identified model on motions that it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mechid.cli.common import Json, print_json, print_notes, print_table
from mechid.cli.measured import Cutoff, Decimation, Map, Period, read_data
from mechid.cli.predict import RunArgument
from mechid.cli.run_report import show_validation


def validate(
    run: RunArgument,
    data: Annotated[
        list[Path], typer.Argument(metavar="DATA…", help="Measurements, one file per motion.")
    ],
    mapping: Map = None,
    period: Period = None,
    cutoff: Cutoff = None,
    decimation: Decimation = None,
    add: Annotated[bool, typer.Option("--add", help="Keep the result in the run.")] = False,
    json: Json = False,
) -> None:
    """Compare measured forces with those that a run predicts: CAD values, estimate, reduced model.

    E_p is |predicted - measured| / |measured| of each force, and their sum.
    """
    from mechid.runs.folder import load_run
    from mechid.tasks.rerun import validate_run

    before = load_run(run)
    how: dict[str, Any] = {"period": period, "cutoff": cutoff, "decimation": decimation}
    first = len(before.motions)
    motions = [
        read_data(path, before.mechanism, f"validation-{k}", mapping, **how)
        for k, path in enumerate(data, start=first)
    ]
    after = validate_run(before, motions)
    if add:
        _keep(run, after, mapping)
    rows = list(after.validation[len(before.validation) :])
    result = {
        "model": before.mechanism.name,
        "motions": {m.name: m.source for m in motions},
        "validation": rows,
        "notes": list(dict.fromkeys(note for m in motions for note in m.notes)),
        "warnings": list(dict.fromkeys(w for m in motions for w in m.warnings)),
        "output": [str(run)] if add else [],
    }
    if json:
        print_json(result)
    else:
        _show(result)


def _keep(folder: Path, run: Any, mapping: Path | None) -> None:
    from dataclasses import replace

    from mechid.cli.measured import data_files
    from mechid.runs.folder import RunFolder

    known = {file.name for file in run.about.files}
    news = [f for f in data_files(run.motions, mapping) if f.name not in known]
    kept = replace(run, about=replace(run.about, files=(*run.about.files, *news)))
    for stage in ("data", "validation"):
        RunFolder(folder).keep(stage, kept)


def _show(found: dict[str, Any]) -> None:
    for name, source in found["motions"].items():
        typer.echo(f"{name}: {source}")
    typer.echo("")
    show_validation(found["validation"])
    typer.echo("")
    last = found["validation"][-1]["model"]
    print_table(
        ("motion", "force", "R²", "absolute", "within 95 %", "white"),
        [
            (row["motion"], name, f"{f['r2']:.4f}", f"{100 * f['absolute']:.3g} %",
             f"{100 * f['coverage']:.3g} %", f"{f['white']:.2g}")
            for row in found["validation"] if row["model"] == last
            for name, f in row["forces"].items()
        ],
    )  # fmt: skip
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    for path in found["output"]:
        typer.echo(f"wrote {path}")
