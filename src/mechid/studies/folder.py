"""The result of a study as a folder.

    study.yaml                 the study file, as it was
    provenance.json            versions, hashes of models and files, quick or full
    cells/PART.parquet         the grid: labels of every cell, and its hash
    cells/PART/HASH.parquet    rows of some cells, as they were computed
    PART.parquet               the table of a part, when all its cells are there

Every file is written whole. What is in `cells` is used again if the study is run again: with more
seeds, for instance. Tables hold a hash of their own bytes: what is damaged is not used.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mechid.errors import DataError
from mechid.outputs import is_left_over, make_folder, remove_left_over, write_bytes, write_text
from mechid.runs.files import read_json, write_json
from mechid.runs.lock import NAME as LOCK
from mechid.runs.record import library_versions
from mechid.runs.schemas import ResultWords, checked
from mechid.studies.rows import CELL, REFUSED, grid_table, part_table
from mechid.studies.study import Study
from mechid.textfile.formats import check_format

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_VERSION = 1
_CELLS = "cells"
TOKEN = ".token-"  # begin of the names of files by which workers see that they share the folder
_SEAL = b"SHA-256:"  # the hash follows, before the footer, where no reader of Parquet looks
_SEALED = len(_SEAL) + hashlib.sha256().digest_size


def default_folder(study: Study) -> Path:
    """Return where the result of a study goes by default."""
    return Path(f"{study.name}{'.quick' if study.quick else ''}.study")


@dataclass(frozen=True)
class StudyFolder:
    """The folder of a result."""

    path: Path

    @staticmethod
    def prepare(path: str | Path, study: Study, *, force: bool = False) -> StudyFolder:
        """Make a folder for a study, or continue one.

        Raises
        ------
        DataError
            If the folder is something else, or was computed with other versions (with `force` it
            is emptied then).
        """
        folder = StudyFolder(Path(path))
        there = folder.path.exists()
        if there and not folder._is_study() and not _unused(folder.path):
            raise DataError(
                "this exists and is not the result of a study",
                where=str(path),
                remedy="choose another folder",
            )
        told = provenance(study)
        if there and folder._is_study():
            before = read_json(folder.path / "provenance.json")
            other = _difference(before, told)
            if other and not force:
                raise DataError(
                    f"the folder was computed with {other}",
                    where=str(path),
                    remedy="choose another folder, or add --force to compute everything again",
                )
            if other and (folder.path / _CELLS).exists():
                shutil.rmtree(folder.path / _CELLS)
        make_folder(folder.path)
        write_json(folder.path / "provenance.json", told)  # first: what follows belongs to it
        for part in study.parts:
            make_folder(folder.path / _CELLS / part.name)
        write_text(folder.path / "study.yaml", study.text)
        for old in (*folder.path.glob("*.parquet"), *(folder.path / _CELLS).glob("*.parquet")):
            old.unlink()
        for part in study.parts:
            grid = grid_table(list(part.axes), part.cells)
            _write_table(folder.path / _CELLS / f"{part.name}.parquet", grid)
        folder._remove_damaged([part.name for part in study.parts])
        return folder

    def _remove_damaged(self, parts: Sequence[str]) -> None:
        """Remove what is damaged of the cells, so that it is computed again."""
        found = [path for part in parts for path in self.chunks(part) if not _is_sound(path)]
        for path in found:
            path.unlink()
        if found:
            names = ", ".join(path.name for path in found[:3]) + ", …" * (len(found) > 3)
            logging.getLogger("mechid").warning(
                "%s: files of cells that are damaged, and computed again: %d (%s)",
                self.path,
                len(found),
                names,
            )

    @staticmethod
    def open(path: str | Path) -> StudyFolder:
        """Return the folder of a result that is there.

        Raises
        ------
        DataError
            If it is not one.
        """
        folder = StudyFolder(Path(path))
        if not folder._is_study():
            raise DataError(
                "this is not the result of a study: provenance.json is missing",
                where=str(path),
                remedy="mechid study run",
            )
        _ = folder.provenance  # is checked
        return folder

    def _is_study(self) -> bool:
        return (self.path / "provenance.json").is_file()

    @property
    def provenance(self) -> dict[str, Any]:
        """What the result was computed with."""
        path = self.path / "provenance.json"
        found = read_json(path)
        check_format(
            "result of the study",
            found.get("study") if isinstance(found, dict) else None,
            FORMAT_VERSION,
            where=str(self.path),
            remedy="run the study again",
        )
        try:
            return cast("dict[str, Any]", checked(found, ResultWords))
        except ValueError as error:
            raise _changed(error, path) from None

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, in the order of the study file."""
        return tuple(self.provenance["parts"])

    def grid(self, part: str) -> pa.Table:
        """Return labels and hashes of the cells of a part."""
        found = read_table(self.path / _CELLS / f"{part}.parquet", needed=[CELL])
        if len(found) != self.provenance["parts"][part]["cells"]:
            raise DataError(
                "the study was stopped before it had begun",
                where=str(self.path),
                remedy="run it again",
            )
        return found

    def chunks(self, part: str) -> list[Path]:
        """Return the files of the cells that are done."""
        return sorted((self.path / _CELLS / part).glob("[!.]*.parquet"))

    def done(self, part: str) -> dict[str, str | None]:
        """Return the cells that are done, and why they were refused, if they were."""
        found: dict[str, str | None] = {}
        for path in self.chunks(part):
            rows = read_table(path, [CELL, REFUSED], needed=[CELL, REFUSED])
            found |= dict(zip(rows[CELL].to_pylist(), rows[REFUSED].to_pylist(), strict=True))
        return found

    def keep(self, part: str, rows: pa.Table) -> None:
        """Write the rows of some cells."""
        keys = dict.fromkeys(rows[CELL].to_pylist())
        name = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
        _write_table(self.path / _CELLS / part / f"{name}.parquet", rows)

    def table(self, part: str, *, complete: bool = True) -> tuple[pa.Table, int]:
        """Return the table of a part from its cells, and the number of those that are missing."""
        chunks = [read_table(path) for path in self.chunks(part)]
        try:
            return part_table(self.grid(part), chunks, complete=complete)
        except (ValueError, KeyError, TypeError) as error:  # Arrow's, of columns that do not fit
            raise _changed(error, self.path / _CELLS / part) from None

    def finish(self) -> None:
        """Write the table of every part, and remove what processes that were killed have left."""
        for part in self.parts:
            _write_table(self.path / f"{part}.parquet", self.table(part)[0])
        cells = self.path / _CELLS
        remove_left_over(self.path, cells, *(cells / part for part in self.parts))
        for left in self.path.glob(f"{TOKEN}*"):
            left.unlink(missing_ok=True)


def _unused(path: Path) -> bool:
    """Return whether a folder is empty, but for what a killed process left."""
    return path.is_dir() and all(
        x.name == LOCK or x.name.startswith(TOKEN) or is_left_over(x) for x in path.iterdir()
    )


def provenance(study: Study) -> dict[str, Any]:
    """Return what the numbers of a study depend on."""
    return {
        "study": FORMAT_VERSION,
        "name": study.name,
        "title": study.title,
        "size": "quick" if study.quick else "full",
        "versions": library_versions(),
        "parts": {
            part.name: {
                "experiment": part.experiment,
                "cells": len(part.cells),
                "axes": {name: list(labels) for name, labels in part.axes.items()},
                "inputs": dict(part.inputs),
            }
            for part in study.parts
        },
    }


def _difference(before: Any, now: dict[str, Any]) -> str:
    """Say which version is not the same as before."""
    if not isinstance(before, dict) or before.get("study") != now["study"]:
        return "another format"
    had = before.get("versions")
    had = had if isinstance(had, dict) else {}
    other = [f"{name} {had.get(name)}" for name, v in now["versions"].items() if had.get(name) != v]
    return ", ".join(other)


def _changed(error: Exception, path: Path) -> DataError:
    words = f"the result was changed or is damaged ({type(error).__name__}: {error})"
    return DataError(words, where=str(path), remedy="run the study again")


def _is_sound(path: Path) -> bool:
    try:
        read_table(path)
    except DataError:
        return False
    return True


def read_table(
    path: Path, columns: Sequence[str] | None = None, needed: Sequence[str] = ()
) -> pa.Table:
    """Read a Parquet table, or some of its columns.

    Raises
    ------
    DataError
        If there is none, it is damaged, or a column that is needed is missing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(_unsealed(path.read_bytes())), columns=columns)
        table.validate(full=True)  # also that texts are UTF-8
        absent = [name for name in needed if name not in table.column_names]
    except FileNotFoundError:
        raise DataError("there is no such file", where=str(path)) from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DataError(
            f"damaged, or not a Parquet table: {str(error).splitlines()[0]}",
            where=str(path),
            remedy="run the study again",
        ) from None
    if absent:
        raise DataError(
            f"missing column {absent[0]}", where=str(path), remedy="run the study again"
        )
    return table


def _write_table(path: Path, table: pa.Table) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = pa.BufferOutputStream()
    pq.write_table(table, made)
    data = made.getvalue().to_pybytes()
    at = _footer(data)
    write_bytes(path, data[:at] + _SEAL + hashlib.sha256(data).digest() + data[at:])


def _unsealed(data: bytes) -> bytes:
    """Return a Parquet file without its hash, which is checked; others may have none."""
    end = _footer(data)
    seal = data[max(end - _SEALED, 0) : end]
    if not seal.startswith(_SEAL):
        return data
    whole = data[: end - _SEALED] + data[end:]
    if seal != _SEAL + hashlib.sha256(whole).digest():
        raise ValueError("its bytes are not those that were written")
    return whole


def _footer(data: bytes) -> int:
    """Return where the footer begins; its length stands before the last four bytes."""
    return max(len(data) - 8 - int.from_bytes(data[-8:-4], "little"), 0)
