"""What is exported: a mechanism with values, how certain they are, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mechid.errors import ModelError
from mechid.mechanism.element_laws import HYSTERESIS
from mechid.mechanism.element_terms import load_parts, terms_of
from mechid.mechanism.records import IndependentCoordinate, Mechanism
from mechid.shown import Shown


@dataclass(frozen=True)
class Quantity:
    """A number of a table.

    Attributes
    ----------
    table : "base parameters", "bodies" or "force elements"
    owner : str
        Body or force element; empty for base parameters.
    name : str
    unit : str
    value, sigma : float or None
        Identified (or of the model), and its standard deviation.
    cad, cad_sigma : float or None
    source : str
        "data", "cad" (the data hardly reduce its standard deviation), "eliminated", or "model".
    expression, latex : str
        Of a base parameter.
    """

    table: str
    owner: str
    name: str
    unit: str
    value: float | None
    sigma: float | None = None
    cad: float | None = None
    cad_sigma: float | None = None
    source: str = "model"
    expression: str = ""
    latex: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Content(Shown):
    """What a target writes.

    Attributes
    ----------
    mechanism : Mechanism
        With these values as its CAD values.
    origin : str
        Where the values come from, in words.
    quantities : tuple of Quantity
        All values with their uncertainty.
    notes : tuple of str
        What a reader should know.
    lacking : str
        Empty, or why not all parameters have values.
    sigma : tuple of float
        Standard deviations of the parameters, in the order of the columns of W; may be empty.
    measured : tuple of IndependentCoordinate
        Quantities from which exported code finds the independent coordinates; may be empty.
    file_name : str
        Of the file, without suffix, for code that goes by it; empty: that of the mechanism.
    """

    mechanism: Mechanism
    origin: str
    quantities: tuple[Quantity, ...] = ()
    notes: tuple[str, ...] = ()
    lacking: str = ""
    sigma: tuple[float, ...] = ()
    measured: tuple[IndependentCoordinate, ...] = ()
    file_name: str = ""

    def of(self, owner: str) -> tuple[Quantity, ...]:
        """Return the values of a body or force element."""
        return tuple(q for q in self.quantities if q.owner == owner)


@dataclass(frozen=True, eq=False, repr=False)
class Exported(Shown):
    """A file for another tool.

    Attributes
    ----------
    target : str
        As requested: "urdf", "mjcf", …
    data : bytes
        Of the file.
    notes : tuple of str
        How the mechanism was written, and what a reader should know.
    left_out : tuple of str
        What the format cannot hold.
    beside : tuple of (str, bytes)
        Further files, with their names, that stand in the same folder.
    paths : tuple of str
        Files that were written.
    """

    target: str
    data: bytes
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    beside: tuple[tuple[str, bytes], ...] = ()
    paths: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file as text."""
        return self.data.decode("utf-8")

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "target": self.target,
            "size": f"{len(self.data)} bytes",
            "notes": self.notes,
            "left_out": self.left_out,
            "paths": self.paths,
        }


def states_alone(mechanism: Mechanism) -> tuple[str, ...]:
    """Return what functions of single states cannot hold, as they have it instead."""
    terms = (term for e in mechanism.elements for _, term in terms_of(e))
    return (
        *(
            f"{term.name} (depends on the path, becomes friction of the speed alone)"
            for term in terms
            if term.law == HYSTERESIS
        ),
        *loads_of_drives(mechanism),
    )


def loads_of_drives(mechanism: Mechanism) -> tuple[str, ...]:
    """Return friction that depends on the load, which formats of other programs do not have."""
    parts = (part for e in mechanism.elements for part in load_parts(e))
    return tuple(f"load_{part.name} (friction that depends on the load)" for part in parts)


def check_whole(content: Content, what: str, left_out: tuple[str, ...], allow_loss: bool) -> None:
    """Refuse what a format cannot hold, unless it may be left out.

    Raises
    ------
    ModelError
    """
    if content.lacking:
        raise ModelError(
            content.lacking,
            where=content.mechanism.name,
            remedy="give CAD values of all bodies and coefficients in the model file",
        )
    if left_out and not allow_loss:
        raise ModelError(
            f"{what} cannot hold: {'; '.join(left_out)}",
            where=content.mechanism.name,
            remedy="add --allow-loss (allow_loss=True) to leave this out",
        )
