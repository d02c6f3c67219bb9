"""What was attached to a body, as a record and as a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mechid.errors import DataError
from mechid.estimation.regression import Floats
from mechid.outputs import write_text
from mechid.runs.files import write_json
from mechid.runs.record import DataFile
from mechid.shown import Tabular
from mechid.spatial.inertia import NAMES

CENTRAL = ("m", "cx", "cy", "cz", "Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
UNITS = ("kg", *("kg m",) * 3, *("kg m²",) * 6)
CENTRAL_UNITS = ("kg", *("m",) * 3, *("kg m²",) * 6)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Payload(Tabular):
    """Mass, centre and inertia of something attached to a body, in the frame of the body.

    Attributes
    ----------
    model : str
    body : str
        What it is attached to.
    rank : int
        How many combinations of the ten parameters the forces can show.
    groups : tuple of str
        These combinations.
    group_values, group_covariance : arrays (r,), (r, r)
        Their values by the forces alone.
    values, sigma : arrays (10,)
        (m, mx, my, mz, Ixx, …, Izz) about the origin of the frame of the body; NaN where forces
        and measured mass do not determine a parameter.
    central, central_sigma : arrays (10,)
        (m, c, I_c): mass, centre of mass, inertia about it (xx, xy, xz, yy, yz, zz); likewise.
    full : array (10,)
        A body that can exist and has these values; what is not determined is chosen.
    covariance : array (10, 10)
        Of the ten; wide where they are not determined.
    distance : float
        How far the values were moved to belong to a body that can exist, in standard deviations.
    known_mass : (float, float), optional
        Measured mass and standard deviation, kg.
    forces : tuple of str
    noise : array (n_d,)
        Standard deviation of the noise of each force, N or N m.
    without, explained : arrays (n_d,)
        ‖predicted - measured‖/‖measured‖ of each force without the payload, and with it.
    words : tuple of str
        What was assumed, and how the errors of the forces were treated.
    notes, warnings : tuples of str
    files : tuple of DataFile
        What was read.
    """

    model: str
    body: str
    rank: int
    groups: tuple[str, ...]
    group_values: Floats
    group_covariance: Floats
    values: Floats
    sigma: Floats
    central: Floats
    central_sigma: Floats
    full: Floats
    covariance: Floats
    distance: float
    known_mass: tuple[float, float] | None
    forces: tuple[str, ...]
    noise: Floats
    without: Floats
    explained: Floats
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    files: tuple[DataFile, ...] = ()

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return float(self.central[0])

    @property
    def center(self) -> Floats:
        """Centre of mass in the frame of the body, m, (3,)."""
        return self.central[1:4]

    @property
    def inertia_center(self) -> Floats:
        """Inertia about the centre of mass (xx, xy, xz, yy, yz, zz), kg m²."""
        return self.central[4:]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Quantities one by one: name, value, sigma, unit, whether it is determined."""
        table = [
            *zip(CENTRAL, self.central, self.central_sigma, CENTRAL_UNITS, strict=True),
            *zip(NAMES[1:], self.values[1:], self.sigma[1:], UNITS[1:], strict=True),
        ]
        return [
            {"quantity": n, "value": float(x), "sigma": float(s), "unit": u,
             "determined": bool(np.isfinite(x))}
            for n, x, s, u in table
        ]  # fmt: skip

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        found = {n: f"{x:.5g} ± {s:.2g} {u}" for n, x, s, u in zip(
            CENTRAL, self.central, self.central_sigma, CENTRAL_UNITS, strict=True
        ) if np.isfinite(x)}  # fmt: skip
        return {
            "attached to": f"{self.body} of {self.model}",
            "determined": f"{self.rank} of 10 combinations",
            "mass": found.pop("m", None),
            "centre": ", ".join(f"{n} {t}" for n, t in found.items() if n.startswith("c")),
            "inertia": ", ".join(f"{n} {t}" for n, t in found.items() if n.startswith("I")),
            "warnings": len(self.warnings) or None,
        }

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON knows it."""
        ten = [
            {"value": x, "sigma": s, "unit": u}
            for x, s, u in zip(self.values, self.sigma, UNITS, strict=True)
        ]
        about = [
            {"value": x, "sigma": s, "unit": u}
            for x, s, u in zip(self.central, self.central_sigma, CENTRAL_UNITS, strict=True)
        ]
        return {
            "model": self.model,
            "body": self.body,
            "rank": self.rank,
            "groups": [
                {"group": n, "value": x, "sigma": s}
                for n, x, s in zip(
                    self.groups,
                    self.group_values,
                    np.sqrt(np.diag(self.group_covariance)),
                    strict=True,
                )
            ],
            "central": dict(zip(CENTRAL, about, strict=True)),
            "parameters": dict(zip(NAMES, ten, strict=True)),
            "full": self.full,
            "covariance": self.covariance,
            "distance": self.distance,
            "known_mass": self.known_mass,
            "forces": {
                n: {"noise": e, "error_without": a, "error": b}
                for n, e, a, b in zip(
                    self.forces, self.noise, self.without, self.explained, strict=True
                )
            },
            "words": self.words,
            "notes": self.notes,
            "warnings": self.warnings,
            "files": [{"name": f.name, "sha256": f.sha256, "role": f.role} for f in self.files],
        }


def write_payload(payload: Payload, path: str | Path) -> None:
    """Write a payload: everything as .json, or the quantities as .csv.

    Parameters
    ----------
    payload : Payload
    path : str or Path
        .json or .csv.

    Raises
    ------
    DataError
        For another ending, or a file that cannot be written.

    Examples
    --------
    >>> import mechid
    >>> from pathlib import Path
    >>> motion = mechid.excite("pendulum", random=4, starts=0)
    >>> log = mechid.synthesise("pendulum", motion, noise="1%", periods=2)
    >>> found = mechid.payload(mechid.identify("pendulum", log), log)  # nothing is attached
    >>> mechid.write_payload(found, "payload.csv")
    >>> Path("payload.csv").read_text().splitlines()[0]
    'quantity,value,sigma,unit,determined'
    """
    path = Path(path)
    check_ending(path)
    if path.suffix.lower() == ".json":
        write_json(path, payload.to_json())
        return
    lines = ["quantity,value,sigma,unit,determined"]
    for row in payload.rows:
        numbers = (repr(row[k]) if row["determined"] else "" for k in ("value", "sigma"))
        yes = "yes" if row["determined"] else "no"
        lines.append(",".join((row["quantity"], *numbers, row["unit"], yes)))
    write_text(path, "\n".join(lines) + "\n")


def check_ending(path: Path) -> None:
    """Reject endings that a payload is not written with."""
    if path.suffix.lower() not in (".json", ".csv"):
        raise DataError(
            f"unknown file type {path.suffix or '(no extension)'}",
            where=str(path),
            remedy="use a .json or a .csv file",
        )
