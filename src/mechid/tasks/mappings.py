"""Which mapping belongs to which log: one for all, or one of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from mechid.errors import DataError
from mechid.measurementfile.read import file_and_part

LogMapping: TypeAlias = str | Path | Mapping[str, Any] | None
# A mapping for all logs, or files: "FILE" for all, "LOG=FILE" for one.
Mappings: TypeAlias = LogMapping | Sequence[str | Path]


@dataclass(frozen=True)
class ChosenMappings:
    """A mapping for all logs (None: channels are named as what they are), and those of single
    logs."""

    common: LogMapping = None
    own: Mapping[str, str] = field(default_factory=dict)

    def of(self, data: Any) -> LogMapping:
        """Return the mapping of a log."""
        return next((self.own[n] for n in _names(data) if n in self.own), self.common)

    @property
    def files(self) -> list[str]:
        """All mapping files."""
        common = [str(self.common)] if isinstance(self.common, str | Path) else []
        return list(dict.fromkeys([*common, *self.own.values()]))


def chosen_mappings(given: Mappings, logs: Sequence[Any]) -> ChosenMappings:
    """Return mappings as they are given: "FILE" for all logs, "LOG=FILE" for one.

    LOG is a log as it is given, or its file without the range. A file whose name has a "=" is
    taken as it is.

    Raises
    ------
    DataError
        If two are given for the same, or one for a log that is not there.
    """
    if given is None or isinstance(given, Mapping):
        return ChosenMappings(given)
    common: str | None = None
    own: dict[str, str] = {}
    known = {name for log in logs for name in _names(log)}
    for text in map(str, [given] if isinstance(given, str | Path) else given):
        log, sign, file = text.rpartition("=")
        if not sign or Path(text).is_file():
            if common is not None:
                raise DataError(
                    f"one mapping file can be for all logs, got {common} and {text}",
                    remedy="write LOG=FILE for the mapping of a single log",
                )
            common = text
        elif log not in known:
            shown = ", ".join(sorted(_names(x)[-1] for x in logs if _names(x)))
            raise DataError(f"there is no log {log} for the mapping {file}; choose one of: {shown}")
        elif own.setdefault(log, file) != file:
            raise DataError(f"the log {log} has two mappings, {own[log]} and {file}")
    return ChosenMappings(common, own)


def _names(data: Any) -> list[str]:
    """Return what a log may be called: as it is given, or its file without the range."""
    if not isinstance(data, str | Path):
        return []
    return [str(data), str(file_and_part(data)[0])]
