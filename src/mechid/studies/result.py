"""The result of a study: its tables, as far as they are computed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechid.shown import Shown
from mechid.studies.folder import StudyFolder, read_table
from mechid.studies.study import only

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(Shown):
    """What a study found.

    Attributes
    ----------
    folder : Path
        Its tables are `<part>.parquet` in it, which pandas and polars read, too.
    """

    folder: Path

    @cached_property
    def provenance(self) -> Mapping[str, Any]:
        """Versions, hashes of models and files, axes and sizes."""
        return StudyFolder.open(self.folder).provenance

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts."""
        return tuple(self.provenance["parts"])

    def axes(self, part: str) -> tuple[str, ...]:
        """Return the axes of a part."""
        return tuple(self.provenance["parts"][part]["axes"])

    def table(self, part: str | None = None) -> pa.Table:
        """Return the table of a part, by default of the only one, with the cells that are done.

        Columns are the axes, `cell`, `refused` (why a cell has no values, or null), and those of
        the experiment.
        """
        name = only({p: p for p in self.parts}, part, str(self.folder))
        path = self.folder / f"{name}.parquet"
        if path.is_file():
            return read_table(path)
        found, missing = StudyFolder.open(self.folder).table(name, complete=False)
        if missing:
            logging.getLogger("mechid").warning(
                "%s: %d of %d cells are missing; run the study to its end",
                f"{self.folder}: part {name}",
                missing,
                self.provenance["parts"][name]["cells"],
            )
        return found

    def to_frame(self, part: str | None = None) -> Any:
        """Return the table of a part for pandas."""
        return self.table(part).to_pandas()

    def status(self) -> list[dict[str, Any]]:
        """Return how many cells of each part are done, and how many of these were refused."""
        folder = StudyFolder.open(self.folder)
        found = []
        for part in self.parts:
            have = folder.done(part)
            keys = folder.grid(part)["cell"].to_pylist()
            refused = [have[key] for key in keys if have.get(key)]
            found.append(
                {
                    "part": part,
                    "cells": len(keys),
                    "done": sum(key in have for key in keys),
                    "refused": len(refused),
                    "first_refusal": refused[0] if refused else None,
                    "complete": (self.folder / f"{part}.parquet").is_file(),
                }
            )
        return found

    def summary(self) -> Mapping[str, object]:
        """Return title, size and how far it is."""
        done = {
            row["part"]: f"{row['done']} of {row['cells']} cells, {row['refused']} refused"
            for row in self.status()
        }
        head = self.provenance
        return {"title": head["title"], "size": head["size"], "folder": str(self.folder), **done}


def load_study_result(folder: str | Path) -> StudyResult:
    """Return the result of a study from its folder, as far as it came.

    Parameters
    ----------
    folder : str or Path
        What `run_study` wrote.

    Raises
    ------
    DataError
        If it is not the result of a study.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> text = "title: T\\nexperiment: identification\\nsettings: {model: pendulum}\\n"
    >>> _ = Path("s.yaml").write_text(text + "axes: {estimator: [cad, ols], seed: {count: 2}}")
    >>> found = mechid.run_study("s.yaml", "out", workers=0)
    >>> mechid.load_study_result("out").status()[0]["done"]
    4
    """
    return StudyResult(StudyFolder.open(folder).path)
