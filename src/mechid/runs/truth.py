"""The truth behind synthetic measurements, in a file beside them: log.csv.truth.json."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats
from mechid.outputs import write_together
from mechid.runs.files import file_hash, json_text, read_json
from mechid.shown import Shown
from mechid.textfile.formats import check_format

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


def write_with_truth(data: Path, write: Callable[[Path], object], truth: Truth) -> list[Path]:
    """Write data and their truth, so that a killed command leaves no truth of other data.

    Parameters
    ----------
    data : Path
    write : callable
        Writes the data to a path.
    truth : Truth

    Returns
    -------
    list of Path
    """
    path, sha256 = truth_path(data), ""

    def write_data(place: Path) -> None:
        nonlocal sha256
        write(place)
        sha256 = file_hash(place) if place.is_file() else ""  # a pipe cannot be read again

    def write_truth(place: Path) -> None:
        head = {"truth": FORMAT_VERSION, "data": {"name": data.name, "sha256": sha256}}
        values = dict(zip(truth.parameters, truth.values.tolist(), strict=True))
        text = json_text(head | dict(truth.made) | {"parameters": values})
        place.write_text(text, encoding="utf-8")

    write_together({data: write_data, path: write_truth})
    return [data, path]


def read_truth(path: str | Path) -> Truth:
    """Read a truth file.

    Raises
    ------
    DataError
        If it is not one.
    """
    found = read_json(Path(path))
    if not isinstance(found, dict) or "truth" not in found:
        raise DataError("this is not the truth file of synthetic data", where=str(path))
    again = "create it again with mechid synthesise"
    check_format("truth file", found["truth"], FORMAT_VERSION, where=str(path), remedy=again)
    values = found.pop("parameters", None)
    if not isinstance(values, dict) or not all(_is_number(x) for x in values.values()):
        raise DataError(
            "`parameters` of the truth must be numbers",
            where=str(path),
            remedy=again,
        )
    errors = found.get("errors", {})
    if not isinstance(errors, dict) or not all(isinstance(x, dict) for x in errors.values()):
        raise DataError(
            "`errors` of the truth must be values by kind and channel",
            where=str(path),
            remedy=again,
        )
    return Truth(tuple(values), np.array(list(values.values()), dtype=float), found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
