"""Cells of workbooks, and files that are broken, huge or hostile."""

from __future__ import annotations

import contextlib
import datetime
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

import mechid
from mechid.importing.hardpoint_table import read_hardpoints
from mechid.importing.spreadsheet import column_name

TITLES = ["point", "x", "y", "z", "unit"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return mechid.template("four-bar", tmp_path)[0]


def book(path: Path, *rows: list[Any]) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.active.title = "geometry"
    for row in rows:
        made.active.append(row)
    made.save(path)
    return made


def problem(model: Path, table: Path) -> str:
    with pytest.raises(mechid.DataError) as error:
        mechid.fill(model, table)
    return str(error.value)


def test_sheets_in_any_order_with_other_things(model: Path, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active.append(["Suspension of the new car", None, datetime.date(2026, 1, 1)])
    masses = made.create_sheet("masses")
    for row, values in (
        (5, ("body", "mass [g]", "mass uncertainty", "x")),
        (6, ("bar_2", 2500, 0.05)),
    ):
        for column, value in zip("CDEF", values, strict=False):
            masses[f"{column}{row}"] = value
    masses["E6"].number_format = "0%"
    points = made.create_sheet("points")
    for row in (TITLES, ["C", 3.0, 0, 0.0, "m"], [], ["B", "3551", "1660,5", 0, "mm"]):
        points.append(row)
    hidden = made.create_sheet("old")
    hidden.append(TITLES)
    hidden.append(["Q", 1, 2, 3, "m"])
    hidden.sheet_state = "hidden"
    made.save(tmp_path / "t.xlsx")
    found = mechid.fill(model, tmp_path / "t.xlsx")
    assert (found.points, found.bodies) == (("C", "B"), ("bar_2",))
    assert found.notes[0].endswith("sheet masses, row 5, column F: column x is not used")
    cad = found.mechanism.body("bar_2").inertia
    assert cad is not None
    assert (cad.mass, cad.sigma_mass) == (2.5, 0.125)
    assert found.mechanism.body("bar_3").frame.origin == (3.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("=3*1000", "the value of the formula is not in the file; open the file in a spreadsheet"),
        (datetime.datetime(2026, 5, 1), "the cell has a date or time (2026-05-01 00:00:00)"),
        (True, '"True" is not a number'),
        ("#REF!", '"#REF!" is not a number'),
        ("text " * 30, 'text text text text text text text text …" is not a number'),
        (None, "the value is missing"),
    ],
)
def test_cells_without_a_number(model: Path, tmp_path: Path, value: object, message: str) -> None:
    book(tmp_path / "t.xlsx", TITLES, ["C", value, 0, 0, "m"])
    words = problem(model, tmp_path / "t.xlsx")
    assert words.startswith(f"{tmp_path / 't.xlsx'}: sheet geometry, row 2, column B (x): ")
    assert message in words


def test_names_and_units_without_a_value(model: Path, tmp_path: Path) -> None:
    book(tmp_path / "t.xlsx", TITLES, ["=A9", "=B9", "=C9", "=D9", "=E9"])
    assert "row 2, column A (point): the value of the formula" in problem(
        model, tmp_path / "t.xlsx"
    )
    book(tmp_path / "t.xlsx", TITLES, ["C", 1, 2, 3, "=E9"])
    assert "row 2, column E (unit): the value of the formula" in problem(model, tmp_path / "t.xlsx")


def test_merged_cells(model: Path, tmp_path: Path) -> None:
    made = book(tmp_path / "t.xlsx", TITLES, ["C", 3, 0, 0, "m"], ["B", 3.5, 1.7, 0, None])
    made.active.merge_cells("E2:E3")
    made.save(tmp_path / "t.xlsx")
    assert "row 3, column E (unit): the cell is merged with E2; write every value" in problem(
        model, tmp_path / "t.xlsx"
    )
    made.active.unmerge_cells("E2:E3")
    made.active["E3"] = "m"
    made.active["A9"] = "a title over several columns"
    made.active.merge_cells("G1:J1")
    made.active.merge_cells("B5:C8")  # decoration
    made.save(tmp_path / "t.xlsx")
    with pytest.raises(mechid.DataError, match="the model has no point a title over several"):
        mechid.fill(model, tmp_path / "t.xlsx")
    made.active["A9"] = None
    made.save(tmp_path / "t.xlsx")
    assert mechid.fill(model, tmp_path / "t.xlsx").points == ("C", "B")


def rewritten(path: Path, part: str, old: bytes, new: bytes) -> None:
    """Replace bytes in a part of a workbook."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new, 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


SHEET = "xl/worksheets/sheet1.xml"


@pytest.mark.parametrize(
    ("part", "old", "new", "message"),
    [
        (
            SHEET,
            b"<worksheet",
            b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet',
            "entities are not allowed in a workbook",
        ),
        (
            SHEET,
            b"</sheetData>",
            b'</sheetData><mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>',
            "merged cells: the table has 1048575 rows and 16383 columns",
        ),
        (SHEET, b'r="E2"', b'r="XFD1048576"', "the table has"),
        (SHEET, b"</sheetData>", b"", "not an Excel workbook"),
        ("xl/workbook.xml", b"<sheets>", b"<sheets", "not an Excel workbook"),
    ],
)
def test_hostile_workbooks(
    model: Path, tmp_path: Path, part: str, old: bytes, new: bytes, message: str
) -> None:
    book(tmp_path / "t.xlsx", TITLES, ["C", 3, 0, 0, "m"])
    rewritten(tmp_path / "t.xlsx", part, old, new)
    assert message in problem(model, tmp_path / "t.xlsx")


def test_archives_that_unpack_to_very_much(model: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.xlsx"
    book(table, TITLES, ["C", 3, 0, 0, "m"])
    with zipfile.ZipFile(table, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/picture.png", bytes(51_000_000))
    assert table.stat().st_size < 100_000
    assert "the workbook unpacks to more than 50 MB" in problem(model, table)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.xlsx", b"point,x,y,z\n", "not an Excel workbook (.xlsx)"),
        ("t.xlsx", b"", "not an Excel workbook (.xlsx)"),
        ("t.csv", b"PK\x03\x04\x00\x00", "the file is not CSV text; save it as CSV"),
        ("t.csv", b"point," * 2_000_000, "the file has 12 MB, a table may have 10 MB"),
        ("t.csv", b"point,x\n" * 10_001, "the table has 10001 rows and 2 columns"),
        ("t.csv", b"point" + b",x" * 300, "the table has 1 rows and 301 columns"),
        ("t.csv", b'a,"' + b"x" * 200_000, "not a CSV file: field larger than field limit"),
        ("t.ods", b"", "a table is .csv or .xlsx, got .ods; save it as CSV"),
        ("table", b"", "a table is .csv or .xlsx, got a name without ending"),
    ],
)
def test_other_files(model: Path, tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in problem(model, tmp_path / name)
    assert problem(model, tmp_path / "none.csv").endswith("No such file or directory")


def test_empty_archive(model: Path, tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w"):
        pass
    (tmp_path / "t.xlsx").write_bytes(content.getvalue())
    assert "not an Excel workbook" in problem(model, tmp_path / "t.xlsx")


def test_without_openpyxl(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(b"")
    assert 'pip install "mechid[xlsx]", or use CSV' in problem(model, tmp_path / "t.xlsx")
    files = mechid.template("four-bar", tmp_path / "again")
    assert [file.name for file in files] == ["model.yaml", "hardpoints.csv"]


def test_names_of_columns() -> None:
    assert [column_name(k) for k in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


def test_damaged_files(model: Path, tmp_path: Path) -> None:
    """Bytes that are changed anywhere give the table, or one clear error."""
    rng = np.random.default_rng(5)
    for suffix in (".csv", ".xlsx"):
        whole = model.with_name(f"hardpoints{suffix}").read_bytes()
        for _ in range(40):
            damaged = np.frombuffer(whole, dtype=np.uint8).copy()
            damaged[rng.integers(len(damaged), size=3)] = rng.integers(256, size=3)
            (tmp_path / f"t{suffix}").write_bytes(damaged.tobytes())
            with contextlib.suppress(mechid.DataError):
                read_hardpoints(tmp_path / f"t{suffix}")
