"""Tables of studies on the terminal and as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mechid.cli.common import print_json, print_table
from mechid.errors import DataError

if TYPE_CHECKING:
    from mechid.studies.compare import StudyComparison
    from mechid.studies.result import StudyResult

_FEW = 6  # values of a column that are shown


def conditions(where: list[str]) -> dict[str, list[str]]:
    """Return what --where says: column → values."""
    from mechid.textfile.numbers import named

    found = named(where, "--where", "--where base=T1,T2")
    return {name: [v.strip() for v in text.split(",")] for name, text in found.items()}


def names(text: str | None) -> list[str]:
    """Return names that are separated by commas."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def show_columns(result: StudyResult, part: str | None, json: bool) -> None:
    """Print what the tables hold."""
    import pyarrow.compute as pc

    found: dict[str, Any] = {}
    for name in result.parts if part is None else [part]:
        table = result.table(name)
        columns = []
        for column in table.column_names:
            values = pc.unique(table[column].drop_null()).to_pylist()
            columns.append(
                {"column": column, "type": str(table[column].type), "different": len(values)}
                | {"first": values[:_FEW]}
            )
        found[name] = {"rows": len(table), "columns": columns}
    if json:
        print_json(found)
        return
    for name, about in found.items():
        typer.echo(f"{name}: {about['rows']} rows")
        print_table(
            ("column", "type", "values", ""),
            [
                (c["column"], c["type"], str(c["different"]), ", ".join(map(_word, c["first"])))
                for c in about["columns"]
            ],
        )


def show_pivot(
    result: StudyResult,
    part: str | None,
    rows: str | None,
    columns: str | None,
    value: str,
    statistic: str,
    where: list[str],
    json: bool,
) -> None:
    """Print a statistic over columns of a table."""
    from mechid.studies.pivot import pivot

    by, across = names(rows), names(columns)
    found = pivot(
        result.table(part),
        rows=by,
        columns=across,
        value=value,
        statistic=statistic,
        where=conditions(where),
    )
    if json:
        print_json(
            {"value": value, "statistic": statistic, "rows": by, "columns": across}
            | {"row_labels": found.rows, "column_labels": found.columns, "values": found.values}
        )
        return
    heads = [" ".join(map(_word, label)) or f"{statistic} of {value}" for label in found.columns]
    print_table(
        (*by, *heads),
        [
            (*map(_word, label), *map(_word, values))
            for label, values in zip(found.rows, found.values.tolist(), strict=True)
        ],
    )


def show_comparison(found: StudyComparison, by: list[str], json: bool) -> None:
    """Print how two results differ."""
    from dataclasses import asdict

    if json:
        print_json(asdict(found))
        return
    print_table(
        ("part", "in both", "only first", "only second", "refused by one"),
        [
            (p.part, *map(str, (p.shared, p.only_first, p.only_second, p.refused)))
            for p in found.parts
        ],
    )
    typer.echo("")
    print_table(
        ("part", "column", *by, "rows", "equal", "first", "second", "largest change", "less"),
        [
            (
                *(c.part, c.column, *c.labels, str(c.rows), str(c.equal)),
                *map(_word, (c.first, c.second, c.largest)),
                "-" if c.less != c.less else f"{c.less:.0%}",
            )
            for c in found.columns
        ],
    )


def write_tidy(result: StudyResult, part: str | None, where: list[str], output: Path) -> None:
    """Write the table of a part as CSV or Parquet."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    from mechid.outputs import write_bytes
    from mechid.studies.pivot import chosen
    from mechid.tables.files import table_suffix

    csv = table_suffix(output) == ".csv"
    table = chosen(result.table(part), conditions(where))
    write = pyarrow.csv.write_csv if csv else pyarrow.parquet.write_table
    if not len(table):
        raise DataError("the table has no rows yet", where=str(result.folder))
    data = pa.BufferOutputStream()  # Arrow cannot open files whose name is not UTF-8
    write(table, data)
    write_bytes(output, data.getvalue().to_pybytes())
    typer.echo(f"wrote {output}")


def _word(value: Any) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
