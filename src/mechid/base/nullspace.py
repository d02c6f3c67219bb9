"""All transfers of a mechanism as one matrix N: W N = 0 for every motion.

The rank of N is the number of dependent parameters. Any rows of N that form an invertible square
matrix with as many columns give a choice of dependent parameters, and the others are a base set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import sympy as sp

from mechid.base.coupling_transfers import coupling_transfers
from mechid.base.element_transfers import element_transfers
from mechid.base.sparse import SparseBasis, sparse_basis
from mechid.base.transfers import Transfer, transfers
from mechid.dynamics.columns import Column, element_terms, inertial_columns
from mechid.exact.geometry import Geometry, exact_geometry
from mechid.exact.numbers import exactly
from mechid.importing.resolve import mechanism_of
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism, Vec3
from mechid.shown import Shown

# Entries of N are lengths and their products: its rank shows clearly in double precision.
RANK_TOLERANCE = 1e-9
_NEW = 1e-7  # part of a unit vector outside the span that makes it a new one


@dataclass(frozen=True, eq=False, repr=False)
class NullSpace(Shown):
    """Transfers as columns over the parameters.

    Attributes
    ----------
    columns : tuple of Column
        The p parameters, as in the observation matrix.
    transfers : tuple of Transfer
        The k vectors; they may depend on each other.
    geometry : Geometry
    zeros : frozenset of str
        Parameters known to be zero: those of massless bodies.
    """

    columns: tuple[Column, ...]
    transfers: tuple[Transfer, ...]
    geometry: Geometry
    zeros: frozenset[str] = frozenset()

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "mechanism": self.geometry.mechanism.name,
            "parameters": len(self.names),
            "transfers": f"{len(self.transfers)}, {self.rank} of them independent",
            "without effect": self.without_effect,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the columns of W."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def matrix(self) -> Floats:
        """N (p, k), in floats, columns of unit length."""
        place = {name: i for i, name in enumerate(self.names)}
        N = np.zeros((len(place), len(self.transfers)))
        for k, transfer in enumerate(self.transfers):
            for name, entry in transfer.entries:
                N[place[name], k] = float(self.geometry.balls(entry).mid())
        lengths = np.linalg.norm(N, axis=0)
        return np.asarray(N / np.where(lengths > 0, lengths, 1.0))

    @cached_property
    def basis(self) -> SparseBasis:
        """Independent transfers after elimination."""
        vectors = (unit_vector(self.geometry, transfer) for transfer in self.transfers)
        return sparse_basis(vectors, RANK_TOLERANCE)

    @cached_property
    def rank(self) -> int:
        """Number of independent transfers."""
        return self.basis.rank

    @cached_property
    def without_effect(self) -> tuple[str, ...]:
        """Parameters that no force depends on: unit vectors in the span of N."""
        basis = self.basis
        return tuple(
            name
            for name in self.names
            if name in basis.pivots and basis.contains({name: 1.0}, RANK_TOLERANCE)
        )

    def symbolic(self) -> dict[tuple[str, int], sp.Expr]:
        """Return the entries of N in symbols: (parameter, number of the transfer) → expression."""
        return {
            (name, k): entry
            for k, transfer in enumerate(self.transfers)
            for name, entry in transfer.entries
        }


def unit_vector(geometry: Geometry, transfer: Transfer) -> dict[str, float]:
    """Return a transfer in floats, scaled to unit length; empty if it vanishes."""
    entries = {name: float(geometry.balls(x).mid()) for name, x in transfer.entries}
    length = math.hypot(*entries.values())
    return {name: x / length for name, x in entries.items() if x}


def independent(
    geometry: Geometry, found: Iterable[Transfer], after: Iterable[Transfer] = ()
) -> tuple[Transfer, ...]:
    """Return the transfers that do not follow from those before them, nor from those of `after`."""
    basis = sparse_basis((unit_vector(geometry, known) for known in after), _NEW)
    return tuple(new for new in found if basis.add(unit_vector(geometry, new), _NEW))


def parameter_columns(mechanism: Mechanism) -> tuple[Column, ...]:
    """Return the columns of the observation matrix; no pose is needed to know them."""
    elements = (term.column for term in element_terms(mechanism) if not term.known)
    return (*inertial_columns(mechanism), *elements)


@exactly  # what counts as zero among exact numbers is far below double precision
def null_space(
    model: Mechanism | str | Path, gravity: Vec3 | None = None, geometry: Geometry | None = None
) -> NullSpace:
    """Return the transfers of a mechanism, in the frames of its bodies.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    gravity : Vec3, optional
        Weight per unit mass, if not that of the model.
    geometry : Geometry, optional
        Other frames than those of the bodies.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> model = mechid.load("four_bar")
    >>> null = mechid.null_space(model)
    >>> W = mechid.observation_matrix(mechid.tour(model)).W
    >>> np.allclose(W @ null.matrix, 0, atol=1e-12 * np.abs(W).max())
    True
    """
    mechanism = mechanism_of(model)
    found = exact_geometry(mechanism) if geometry is None else geometry
    massless = {
        f"{name}_{i}"
        for i, body in enumerate(mechanism.bodies, start=1)
        if body.massless
        for name in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    }
    weight = mechanism.gravity if gravity is None else gravity
    moved = (
        *transfers(found, gravity),
        *element_transfers(found, weight),
        *coupling_transfers(found, weight),
    )
    return NullSpace(
        columns=parameter_columns(mechanism),
        transfers=moved,
        geometry=found,
        zeros=frozenset(massless),
    )
