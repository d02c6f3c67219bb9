"""What can be exported to, one entry per format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from mechid.errors import DataError
from mechid.exporting.c_source import c_source
from mechid.exporting.content import Content, Exported, check_whole
from mechid.exporting.fmu import fmu
from mechid.exporting.latex import latex
from mechid.exporting.mjcf import mjcf
from mechid.exporting.straight_line import matlab, python_module
from mechid.exporting.tables import csv_table, xlsx
from mechid.exporting.urdf import urdf
from mechid.modelfile.api import dumps


def model(content: Content, allow_loss: bool = False) -> Exported:
    """Return a model file; nothing is lost."""
    check_whole(content, "a model file", (), allow_loss)
    lines = (f"{content.mechanism.name}: {content.origin}", *content.notes)
    text = "".join(f"# {line}\n" for line in lines) + dumps(content.mechanism)
    return Exported("model", text.encode())


@dataclass(frozen=True)
class Target:
    """A format.

    Attributes
    ----------
    suffix : str
        Of its files.
    holds : str
        What it can hold, in words.
    write : function (content, allow_loss, **options)
        Returns the file.
    with_base : bool
        Whether it writes base parameters, which take time to find of a model.
    is_code : bool
        Whether it computes, so that it can take measured quantities.
    options : tuple of str
        Further keywords that `write` takes.
    """

    suffix: str
    holds: str
    write: Callable[..., Exported]
    with_base: bool = False
    is_code: bool = False
    options: tuple[str, ...] = ()


TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        "urdf": Target(".urdf", "tree, loops as <constraint>, damping, friction, rotors", urdf),
        "mjcf": Target(".xml", "loops, couplings, linear springs, dampers, friction", mjcf),
        "c": Target(
            ".c", "forces as C99, with .h: everything but loads over time", c_source, is_code=True
        ),
        "python": Target(
            ".py", "the same as a module that needs NumPy only", python_module, is_code=True
        ),
        "matlab": Target(
            ".m", "the same as a MATLAB function, parameters as .mat", matlab, is_code=True
        ),
        "model": Target(".yaml", "everything: a model file with these values", model),
        "tables": Target(".csv", "all parameters with standard deviations", csv_table, True),
        "xlsx": Target(".xlsx", "the same, a sheet per table", xlsx, True),
        "latex": Target(".tex", "the same, a table each", latex, True),
        "fmu": Target(".fmu", "simulation or inverse dynamics", fmu, options=("fmi", "kind")),
    }
)


def target_of(name: str | None, path: str | Path | None = None) -> str:
    """Return the name of a target; without one, that of the suffix of the file.

    Raises
    ------
    DataError
    """
    if name is None and path is not None:
        suffix = Path(path).suffix.lower()
        name = next((key for key, target in TARGETS.items() if target.suffix == suffix), None)
    if name not in TARGETS:
        what = "no format is given" if name is None else f"there is no format {name}"
        raise DataError(what, remedy=f"choose one of: {', '.join(TARGETS)}")
    return str(name)
