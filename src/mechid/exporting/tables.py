"""All parameters as one table, a row per number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict

from mechid.exporting.content import Content, Exported, Quantity

COLUMNS = ("table", "owner", "name", "unit", "value", "sigma", "cad", "cad_sigma", "source",
           "expression")  # fmt: skip


def csv_table(content: Content, allow_loss: bool = False) -> Exported:
    """Return a CSV file with base parameters, bodies and force elements."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(cells(quantity, COLUMNS) for quantity in content.quantities)
    return Exported("tables", out.getvalue().encode(), missing(content))


def cells(quantity: Quantity, columns: tuple[str, ...]) -> list[str | float | None]:
    """Return the row of a number."""
    entries = asdict(quantity)
    return [entries[column] for column in columns]


def grouped(content: Content) -> Iterator[tuple[str, tuple[Quantity, ...]]]:
    """Yield the name of each table with its rows."""
    for table in dict.fromkeys(q.table for q in content.quantities):
        yield table, tuple(q for q in content.quantities if q.table == table)


def missing(content: Content) -> tuple[str, ...]:
    """Return a note about values that are missing."""
    return (content.lacking,) if content.lacking else ()
