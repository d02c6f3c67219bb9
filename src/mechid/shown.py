"""Result records show themselves: in a line or ten as text, in notebooks, as tables and plots.

The records stand in packages that know neither Matplotlib nor pandas. They inherit from the
classes below, which call the upper packages by name when something is to be shown:
`mechid.display` (tables, HTML) and `mechid.plots`. Those have one function per type of record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from pandas import DataFrame

LINES, WIDTH = 10, 98  # of a repr, at most
_FEW = 6  # entries that are shown one by one


class Shown:
    """A record with a short `repr` and a HTML form for notebooks."""

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows: name → value; by default all fields."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.repr}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """Return at most ten lines: the type, then its summary."""
        shown = [
            (name, text) for name, value in self.summary().items() if (text := in_words(value))
        ]
        wide = max((len(name) for name, _ in shown), default=0)
        lines = [
            type(self).__name__,
            *(_cut(f"  {name:{wide}}  {text}", WIDTH) for name, text in shown),
        ]
        if len(lines) > LINES:
            lines[LINES - 1 :] = [f"  … and {len(lines) - LINES + 1} more"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the record as HTML, for notebooks."""
        return str(_call("display.html", "to_html", self))


class Tabular(Shown):
    """A record that is a table, too."""

    def to_frame(self) -> DataFrame:
        """Return the record as a pandas table, in SI units; names of columns as in files.

        Raises
        ------
        MechidError
            If pandas is not installed.
        """
        return _call("display.frames", "to_frame", self)


class Plotted(Shown):
    """A record that can be drawn."""

    def plot(self) -> Figure:
        """Return a Matplotlib figure; notebooks show it, `figure.savefig(path)` writes it."""
        return self._drawn()

    def _drawn(self, *what: str) -> Figure:
        return _call("plots.draw", "draw", self, *what)  # type: ignore[no-any-return]


def changes_repr(record: Any) -> str:
    """Return a record of options in one line, with what differs from the defaults."""
    given = []
    for f in fields(record):
        default = f.default if f.default_factory is MISSING else f.default_factory()
        value = getattr(record, f.name)
        if value is not default and value != default:
            given.append(f"{f.name}={value!r}")
    return f"{type(record).__name__}({', '.join(given)})"


def in_words(value: object) -> str:
    """Return a value in a line: arrays by their shape, long lists by their beginning.

    An empty text stands for nothing worth a line: None and empty collections.
    """
    if hasattr(value, "dtype"):  # of NumPy, which commands that only show help do not load
        return _array(value)
    if value is None or (isinstance(value, Sized) and not len(value)):
        return ""
    if isinstance(value, str | bool):
        return str(value)
    if isinstance(value, int | float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return _few((f"{key}: {in_words(item)}" for key, item in value.items()), len(value))
    if isinstance(value, tuple | list | frozenset | set):
        return _few((_name(item) for item in value), len(value))
    return _name(value)


def span(values: np.ndarray, unit: str = "") -> str:
    """Return the range of some numbers: `-0.35 … 0.35 rad`."""
    import numpy as np

    finite = values[np.isfinite(values)]
    if not finite.size:
        return "no finite values"
    low, high = float(finite.min()), float(finite.max())
    numbers = f"{low:.4g}" if low == high else f"{low:.4g} … {high:.4g}"
    return f"{numbers} {unit}".rstrip()


def _array(value: Any) -> str:
    if not value.ndim:
        return in_words(value.item())
    if not len(value):
        return ""
    if value.ndim == 1 and len(value) <= _FEW:
        return _few((in_words(item) for item in value.tolist()), len(value))
    shape = f"array {value.shape}"
    return f"{shape}, {span(value)}" if value.dtype.kind == "f" else shape


def _few(texts: Iterable[str], n: int) -> str:
    shown = ", ".join(islice(texts, _FEW))
    return shown if n <= _FEW else f"{shown}, … ({n})"


def _name(item: object) -> str:
    """Return a record by its name, or by its type."""
    if not is_dataclass(item) or isinstance(item, type):
        return in_words(item) if isinstance(item, int | float) else str(item)
    name = getattr(item, "name", None)
    return name if isinstance(name, str) and name else type(item).__name__


def _cut(line: str, width: int) -> str:
    line = " ".join(line.splitlines())
    return line if len(line) <= width else line[: width - 1] + "…"


def _call(module: str, function: str, record: object, *arguments: Any) -> Any:
    return getattr(import_module(f"mechid.{module}"), function)(record, *arguments)
