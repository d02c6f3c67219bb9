"""`mechid study`: grids of experiments, planned, run, watched and shown as tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from mechid.cli.common import Force, Json, print_json, print_notes, print_table
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.studies.plan import PartPlan
    from mechid.studies.result import StudyResult

study = typer.Typer(
    name="study",
    no_args_is_help=True,
    help="Run grids of experiments on one machine or a cluster; results are tidy tables.",
    epilog="Example: mechid study list; mechid study plan my_study.yaml",
)

StudyArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="STUDY", help="A name of the library (`list`) or a study file.")
]
Folder: TypeAlias = Annotated[Path, typer.Argument(metavar="FOLDER", help="Result of a study.")]
Quick: TypeAlias = Annotated[
    bool, typer.Option("--quick", help="The quick size that the study file defines.")
]


@study.command("list", epilog="Example: mechid study list")
def list_studies(json: Json = False) -> None:
    """List the studies that come with mechid."""
    from mechid.studies.study import library, library_title

    found = {name: library_title(name) for name in library()}
    if json:
        print_json([{"name": name, "title": title} for name, title in found.items()])
    else:
        print_table(("name", "title"), found.items())


@study.command(epilog="Example: mechid study experiments identification")
def experiments(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show the settings of this one.")
    ] = None,
    json: Json = False,
) -> None:
    """List what the cells of studies can compute, or the settings of one experiment."""
    from dataclasses import asdict

    from mechid.studies.describe import experiment_titles, setting_words

    if name is None:
        titles = experiment_titles()
        if json:
            print_json([{"name": key, "title": title} for key, title in titles.items()])
        else:
            print_table(("name", "what a cell computes"), titles.items())
        return
    found = setting_words(name)
    if json:
        print_json([asdict(setting) for setting in found])
    else:
        rows = [(s.name, s.default or "(required)", s.meaning) for s in found]
        print_table(("setting", "default", "meaning"), rows)


@study.command(epilog="Example: mechid study plan my_study.yaml --workers 8")
def plan(
    name: StudyArgument,
    quick: Quick = False,
    seconds: Annotated[
        float, typer.Option(help="Time cells for so long; 0: count only.", min=0.0)
    ] = 10.0,
    workers: Annotated[
        int | None, typer.Option(help="Processes to plan for; default: cores.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Show how many cells a study has, which share work, and how long it will take."""
    import os

    from mechid.cli.progress import load_kernels

    load_kernels()
    from mechid.studies.plan import plan_study

    n_workers = workers or os.cpu_count() or 1
    found = plan_study(name, quick=quick, seconds=seconds)
    if json:
        print_json(
            {
                "study": found.study.name,
                "title": found.study.title,
                "size": "quick" if quick else "full",
                "cells": found.study.n_cells,
                "parts": [_part_words(part) for part in found.parts],
                "seconds": found.seconds,
                "workers": n_workers,
            }
        )
        return
    typer.echo(f"{found.study.name}: {found.study.title}{' (quick)' if quick else ''}")
    typer.echo("")
    print_table(
        ("part", "experiment", "cells", "groups", "per group", "per cell", "one worker"),
        [
            (
                part.name,
                part.experiment,
                str(part.cells),
                str(part.groups),
                duration(part.shared_seconds),
                duration(part.cell_seconds),
                duration(part.seconds),
            )
            for part in found.parts
        ],
    )
    typer.echo("")
    for part in found.parts:
        grid = " × ".join(f"{name} {size}" for name, size in part.axes.items())
        less = f", {part.excluded} excluded" if part.excluded else ""
        typer.echo(f"{part.name}: {grid or 'one cell'}{less}")
    if seconds:
        typer.echo(f"about {duration(found.seconds / n_workers)} with {n_workers} workers")
    print_notes((f"{p.name}: {p.refused}" for p in found.parts if p.refused), "refused")


def _part_words(part: PartPlan) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(part) | {"seconds": part.seconds}


def duration(seconds: float) -> str:
    """Return a time in words."""
    if seconds != seconds:
        return "-"
    if seconds < 1:
        return f"{1e3 * seconds:.3g} ms"
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


@study.command(epilog="Example: mechid study run my_study.yaml --quick -o quick.study")
def run(
    name: StudyArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the result.", show_default="NAME.study"),
    ] = None,
    quick: Quick = False,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes on this machine; 0: none but this one.", min=0, show_default="cores"
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Use a running Dask scheduler: tcp://host:8786."),
    ] = None,
    jobqueue: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Start workers through a batch system, as this YAML file says."
        ),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Stop after this time; run again to go on.", show_default=False),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what was computed with other versions.")
    ] = False,
    json: Json = False,
) -> None:
    """Compute the cells of a study that are not in the folder yet, and write its tables.

    Ctrl-C keeps what is done; the same command goes on. Tables are PART.parquet in the folder, a
    row per cell and force, or what the experiment has. They do not depend on the number of workers.
    """
    from mechid.cli.progress import interruptible, load_kernels, progress

    load_kernels()
    from mechid.studies.run import run_study
    from mechid.studies.study import load_study

    found = load_study(name, quick=quick)
    with interruptible(max_seconds) as interrupt, progress("cells", found.n_cells) as tell:
        result = run_study(
            found,
            output,
            workers=workers,
            scheduler=scheduler,
            jobqueue=jobqueue,
            force=force,
            watch=lambda done, total: tell(done),
            stop=lambda: interrupt.asked,
        )
    _show_status(result, json)


@study.command(epilog="Example: mechid study status my_study.study")
def status(folder: Folder, json: Json = False) -> None:
    """Show how many cells are done, also while the study is running."""
    from mechid.studies.result import load_study_result

    _show_status(load_study_result(folder), json)


def _show_status(result: StudyResult, json: bool) -> None:
    rows = result.status()
    if json:
        head = result.provenance
        print_json(
            {"folder": str(result.folder), "title": head["title"], "size": head["size"]}
            | {"parts": rows}
        )
        return
    print_table(
        ("part", "done", "cells", "refused", "table"),
        [
            (
                row["part"],
                str(row["done"]),
                str(row["cells"]),
                str(row["refused"]),
                str(result.folder / f"{row['part']}.parquet") if row["complete"] else "-",
            )
            for row in rows
        ],
    )
    refusals = [f"{row['part']}: {row['first_refusal']}" for row in rows if row["first_refusal"]]
    print_notes(refusals, "refused")


@study.command(epilog="Example: mechid study table my_study.study --rows base --value e_p")
def table(
    folder: Folder,
    part: Annotated[str | None, typer.Option(help="Part, if there are several.")] = None,
    rows: Annotated[
        str | None, typer.Option(help="Columns whose values are the rows, comma-separated.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Column whose values are the columns.", show_default=False)
    ] = None,
    value: Annotated[str | None, typer.Option(help="Column whose values are shown.")] = None,
    statistic: Annotated[
        str, typer.Option(help="Of the values in a place: median, mean, min, max, count, sd, p10 …")
    ] = "median",
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only rows with COLUMN=VALUE; may be repeated.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the tidy table here: .csv or .parquet."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Show a statistic over two columns of a result, or write its tidy table.

    Without --value: the columns of each part, and what they hold.
    """
    from mechid.cli.study_tables import show_columns, show_pivot, write_tidy
    from mechid.studies.result import load_study_result

    result = load_study_result(folder)
    if output is not None:
        check_outputs(output, force=force)
        write_tidy(result, part, where or [], output)
    elif value is None:
        show_columns(result, part, json)
    else:
        show_pivot(result, part, rows, columns, value, statistic, where or [], json)


@study.command(
    epilog="Example: mechid study plot my_study.study --x size --y e_p --by base -o e.svg"
)
def plot(
    folder: Folder,
    x: Annotated[str, typer.Option(help="Column of the horizontal axis.")],
    y: Annotated[str, typer.Option(help="Column of the vertical axis.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Figure to write: .svg, .png or .html.")
    ],
    part: Annotated[str | None, typer.Option(help="Part, if there are several.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Columns with a curve for each of their values.")
    ] = None,
    statistic: Annotated[str, typer.Option(help="Of the values at a place.")] = "median",
    band: Annotated[
        str | None, typer.Option(help="Two statistics between which a band is drawn: p10,p90.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only rows with COLUMN=VALUE; may be repeated.", show_default=False),
    ] = None,
    log: Annotated[str, typer.Option(help="Logarithmic axes: x, y or xy.")] = "",
    force: Force = False,
) -> None:
    """Draw a statistic of a result over one of its columns."""
    from mechid.cli.study_tables import conditions, names
    from mechid.plots.panels import check_plot_path, write_figure
    from mechid.studies.figure import draw_table
    from mechid.studies.result import load_study_result

    check_plot_path(output)
    check_outputs(output, force=force)
    result = load_study_result(folder)
    drawn = draw_table(
        result.table(part),
        x=x,
        y=y,
        by=names(by),
        statistic=statistic,
        band=names(band),
        where=conditions(where or []),
        log=log,
    )
    write_figure(output, lambda: drawn, str(result.provenance["title"]))
    typer.echo(f"wrote {output}")


@study.command(epilog="Example: mechid study compare before.study after.study --value e_p")
def compare(
    first: Folder,
    second: Folder,
    part: Annotated[str | None, typer.Option(help="Part; default: all that both have.")] = None,
    value: Annotated[
        str | None, typer.Option(help="Columns to compare; default: all numbers.")
    ] = None,
    rows: Annotated[str | None, typer.Option(help="Columns by which rows are grouped.")] = None,
    json: Json = False,
) -> None:
    """Show how two results differ, cell by cell: of two versions, settings, or sizes."""
    from mechid.cli.study_tables import names, show_comparison
    from mechid.studies.compare import compare_studies

    found = compare_studies(first, second, part=part, values=names(value), rows=names(rows))
    show_comparison(found, names(rows), json)


@study.command(epilog="Example: mechid study page my_study.yaml my_study.study -o page.md")
def page(
    name: StudyArgument,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with its tables.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write, .md.")],
    images: Annotated[
        Path | None,
        typer.Option(help="Folder of its figures.", show_default="img beside the page"),
    ] = None,
    force: Force = False,
) -> None:
    """Fill the template of a study (NAME.md.j2 beside its file) from its tables."""
    from mechid.studies.page import write_study_page

    check_outputs(output, force=force)
    for path in write_study_page(name, folder, output, images=images):
        typer.echo(f"wrote {path}")
