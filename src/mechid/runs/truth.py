"""The truth behind synthetic measurements, in a file beside them: log.csv.truth.json."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats
from mechid.runs.files import file_hash, read_json, write_json
from mechid.shown import Shown

FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class Truth(Shown):
    """True parameters.

    Attributes
    ----------
    parameters : tuple of str
        Names of all p parameters of the model.
    values : array (p,)
    made : mapping
        How the measurements were made: model, noise, seed, options, errors.
    """

    parameters: tuple[str, ...]
    values: Floats
    made: Mapping[str, Any]

    @property
    def errors(self) -> Mapping[str, Mapping[str, Any]]:
        """What was drawn of each kind of error, by channel."""
        found: Mapping[str, Mapping[str, Any]] = self.made.get("errors", {})
        return found

    def of(self, parameters: Sequence[str], where: str = "") -> Floats:
        """Return the values of parameters of a model, (p,).

        Raises
        ------
        DataError
            If the truth is that of another model.
        """
        at = {name: i for i, name in enumerate(self.parameters)}
        if strange := [name for name in parameters if name not in at]:
            raise DataError(
                f"the truth has no parameter {strange[0]}",
                where=where,
                remedy="it belongs to data of another model: remove it",
            )
        return self.values[[at[name] for name in parameters]]


def truth_path(data: str | Path) -> Path:
    """Return where the truth of a data file lies: beside it, under its whole name."""
    return Path(f"{data}.truth.json")


def find_truth(data: str | Path) -> Path | None:
    """Return the truth file of a data file, if there is one.

    Earlier versions left out the ending of the data: such a file counts if it says that it
    belongs to these data.
    """
    path, old = truth_path(data), Path(data).with_suffix(".truth.json")
    if path.is_file():
        return path
    if old.is_file():
        made = read_truth(old).made.get("data")
        if isinstance(made, dict) and made.get("name", Path(data).name) == Path(data).name:
            return old
    return None


def write_truth(data: str | Path, truth: Truth) -> Path:
    """Write the truth of a data file that is there already; return where."""
    path = truth_path(data)
    write_json(
        path,
        {
            "truth": FORMAT_VERSION,
            "data": {"name": Path(data).name, "sha256": file_hash(data)},
            **truth.made,
            "parameters": dict(zip(truth.parameters, truth.values.tolist(), strict=True)),
        },
    )
    return path


def read_truth(path: str | Path) -> Truth:
    """Read a truth file.

    Raises
    ------
    DataError
        If it is not one.
    """
    found = read_json(Path(path))
    if not isinstance(found, dict) or found.get("truth") != FORMAT_VERSION:
        raise DataError("this is not the truth file of synthetic data", where=str(path))
    values = found.pop("parameters", None)
    if not isinstance(values, dict) or not all(_is_number(x) for x in values.values()):
        raise DataError(
            "`parameters` of the truth must be numbers",
            where=str(path),
            remedy="create it again with mechid synthesise",
        )
    errors = found.get("errors", {})
    if not isinstance(errors, dict) or not all(isinstance(x, dict) for x in errors.values()):
        raise DataError(
            "`errors` of the truth must be values by kind and channel",
            where=str(path),
            remedy="create it again with mechid synthesise",
        )
    return Truth(tuple(values), np.array(list(values.values()), dtype=float), found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
