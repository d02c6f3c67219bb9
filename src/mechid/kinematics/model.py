"""A mechanism made ready for computation: tables, order of solution, assembled home pose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mechid.errors import ModelError
from mechid.kinematics.assembly import (
    close,
    generic_pose,
    reference_coordinates,
    refuse_reversed,
)
from mechid.kinematics.compile import Compiled, compile_tables, for_kernels
from mechid.kinematics.kernels.held import Held, hold
from mechid.kinematics.kernels.jit import kept_models
from mechid.kinematics.mobility import check_independent
from mechid.kinematics.order import block_order, independent_rows, make_order
from mechid.kinematics.passive import PassivePart, passive_parts
from mechid.kinematics.tables import Floats, Ints, Order, Tables
from mechid.kinematics.tree import SpanningTree, spanning_tree
from mechid.mechanism.planar import refuse_tilted_axes
from mechid.mechanism.records import Mechanism, checked_mechanism
from mechid.shown import Shown

if TYPE_CHECKING:
    from mechid.kinematics.engine.batch import BatchCode
    from mechid.kinematics.engine.path import PathCode

RANK_TOLERANCE = 1e-9


@dataclass(frozen=True, repr=False)
class KinematicModel(Shown):
    """Everything the kernels need, computed once per mechanism; compiling it compiles no code.

    Attributes
    ----------
    mechanism : Mechanism
    tree : SpanningTree
        Which joints carry bodies, and which are cut.
    compiled, order, one_piece :
        Tables of the kernels, and two orders of solution.
    passive : tuple of PassivePart
        Parts that can spin between spherical joints.
    home_q, home_y : arrays (n_q,), (n_i,)
        The assembled reference pose and its independent coordinates; it defines the branch.
    redundant_rows : tuple of str
        Closure rows that follow from the others at a generic pose.
    """

    mechanism: Mechanism
    tree: SpanningTree
    compiled: Compiled
    order: Order
    one_piece: Order
    passive: tuple[PassivePart, ...]
    redundant_rows: tuple[str, ...]
    home_q: Floats
    home_y: Floats

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows."""
        return {
            "mechanism": self.mechanism.name,
            "coordinates": [c.name for c in self.mechanism.coordinates],
            "home": self.home_y,
            "tree joints": [t.joint.name for t in self.tree.joints],
            "cut joints": [joint.name for joint in self.tree.cut],
            "passive spins": len(self.passive),
            "redundant rows": self.redundant_rows,
            "size": f"{self.size:.4g} m",
        }

    @property
    def tables(self) -> Tables:
        """The flat tables."""
        return self.compiled.tables

    @cached_property
    def in_pieces(self) -> Held:
        """Tables and order of solution, for kernels."""
        return hold((self.compiled.for_kernels, for_kernels(self.order)))

    @cached_property
    def in_one_piece(self) -> Held:
        """Tables and the order that solves all rows together, for kernels."""
        return hold((self.compiled.for_kernels, for_kernels(self.one_piece)))

    @cached_property
    def looped(self) -> np.ndarray:
        """Which independent coordinates a loop reads, (n_i,)."""
        found = np.zeros(self.n_independent, dtype=bool)
        for piece in self.order.pieces:
            found[self.order.items[piece.driver_start : piece.driver_end]] = True
        return found

    @cached_property
    def path_code(self) -> PathCode | None:
        """Generated code that solves paths; None if the kernels cannot be recorded."""
        from mechid.kinematics.engine.motion_code import motion_code

        return motion_code(self)

    @cached_property
    def jacobian_code(self) -> BatchCode | None:
        """Generated code for `dependent_jacobians`; None if they cannot be recorded."""
        from mechid.kinematics.engine.motion_code import jacobian_code

        return jacobian_code(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs; it makes what is made when asked for itself."""
        made = ("in_pieces", "in_one_piece", "path_code", "jacobian_code")
        return {k: v for k, v in self.__dict__.items() if k not in made}

    @property
    def n_independent(self) -> int:
        """Number of independent coordinates."""
        return len(self.mechanism.coordinates)

    @property
    def size(self) -> float:
        """Characteristic length (m)."""
        return self.compiled.size


def held_values(mechanism: Mechanism) -> dict[str, float]:
    """Return where the coordinates stand that the model holds, by name (m or rad)."""
    if not any(c.held for c in mechanism.coordinates):
        return {}
    home = kinematic_model(mechanism).home_y.tolist()
    return {c.name: x for c, x in zip(mechanism.coordinates, home, strict=True) if c.held}


@kept_models
def kinematic_model(mechanism: Mechanism) -> KinematicModel:
    """Compile, assemble and check a mechanism.

    Parameters
    ----------
    mechanism : Mechanism

    Raises
    ------
    AssemblyError
        If the loops cannot be closed from the reference pose.
    ModelError
        If the declared coordinates do not determine the motion, or are not independent.

    Examples
    --------
    >>> import mechid
    >>> model = mechid.kinematic_model(mechid.load("four_bar"))
    >>> model.home_y.tolist()  # rad
    [0.785]
    >>> [joint.name for joint in model.tree.cut]
    ['q4']
    """
    mechanism = checked_mechanism(mechanism)
    bodies = tuple(replace(body, inertia=None) for body in mechanism.bodies)
    return replace(model_of_geometry(replace(mechanism, bodies=bodies)), mechanism=mechanism)


@kept_models
def model_of_geometry(mechanism: Mechanism) -> KinematicModel:
    """Compile a mechanism without inertia: once for all values that bodies may have."""
    refuse_tilted_axes(mechanism)
    tree = spanning_tree(mechanism)
    passive = passive_parts(mechanism)
    compiled = compile_tables(mechanism, tree, passive)
    t = compiled.tables
    home = close(compiled, reference_coordinates(mechanism, tree, compiled), mechanism.name)
    refuse_reversed(mechanism, tree, compiled, home.q)
    rng = np.random.default_rng(0)
    jacobians = [generic_pose(compiled, home, rng).jacobian for _ in range(3)]
    unknown = np.ones(compiled.n_v, dtype=bool)
    unknown[t.direct.column] = False
    columns = np.flatnonzero(unknown)
    kept, redundant = _choose_rows(mechanism, compiled, jacobians, columns)
    pattern = _pattern(t, jacobians)
    pieces = [
        ([kept[r] for r in rows], [int(columns[c]) for c in cols])
        for rows, cols in block_order(pattern[kept][:, columns])
    ]
    whole = [(kept, [int(c) for c in columns])] if columns.size else []
    y = np.zeros(len(mechanism.coordinates))
    driven = t.rows.driver >= 0
    y[t.rows.driver[driven]] = home.values[driven]
    y[t.direct.driver] = home.q[t.direct.q]
    return KinematicModel(
        mechanism,
        tree,
        compiled,
        make_order(t, pieces, pattern),
        make_order(t, whole, pattern),
        passive,
        tuple(compiled.row_names[r] for r in redundant),
        home.q,
        y,
    )


def with_geometry(model: KinematicModel, mechanism: Mechanism) -> KinematicModel:
    """Return the model of a mechanism that differs from that of another in the places of joints.

    By little, and closed in the same reference pose, so that pose, order of solution and branch are
    the same.
    """
    tree = spanning_tree(mechanism)
    compiled = compile_tables(mechanism, tree, model.passive)
    return replace(model, mechanism=mechanism, tree=tree, compiled=compiled)


def _choose_rows(
    mechanism: Mechanism, c: Compiled, jacobians: list[Floats], columns: Ints
) -> tuple[list[int], list[int]]:
    """Pick as many independent rows as there are unknowns; reject coordinates that do not fit."""
    t = c.tables
    closing = np.flatnonzero(t.rows.driver < 0)
    driving = np.flatnonzero(t.rows.driver >= 0)
    closure_rank = max(_rank(jac[np.ix_(closing, columns)]) for jac in jacobians)
    total = max(_rank(jac[:, columns]) for jac in jacobians)
    free = c.n_v - max(_rank(jac[closing]) for jac in jacobians)
    determined = closure_rank + driving.size == total == columns.size
    if not determined or free != len(mechanism.coordinates):
        check_independent(mechanism)  # says which coordinate, and what to do
        raise ModelError(
            "the declared coordinates do not fit the degrees of freedom",
            path=("coordinates",),
            remedy="do not drive the spin of a part between spherical joints",
        )
    # Drivers are always kept; of the closure rows, those that pivoting prefers.
    weight = np.ones(t.rows.size)
    weight[driving] = 1e6
    J = jacobians[0][:, columns] * weight[:, None]
    kept = independent_rows(J, columns.size) if columns.size else []
    return kept, [int(r) for r in closing if r not in set(kept)]


def _rank(matrix: Floats) -> int:
    if matrix.size == 0:
        return 0
    s = np.linalg.svd(matrix, compute_uv=False)
    return int(np.sum(s > RANK_TOLERANCE * max(s[0], 1e-300)))


def _pattern(t: Tables, jacobians: list[Floats]) -> np.ndarray:
    """Tell which columns must be solved before or with a row (n_rows, n_v); none if it is zero.

    These are all columns that move its markers and directions, not only those that its rate has at
    closed poses: before the pose is closed the row may depend on them, and it reads where the
    markers are.
    """
    largest = np.max([np.abs(j) for j in jacobians], axis=(0, 2), initial=0.0)
    moving: list[set[int]] = [set()]  # columns that move each link
    for k in range(1, t.links.size):
        own = np.flatnonzero(t.columns.link == k)
        moving.append(moving[int(t.links.parent[k])] | {int(c) for c in own})
    pattern = np.zeros((t.rows.size, t.columns.size), dtype=bool)
    for r in np.flatnonzero(largest > 1e-12):
        row = t.rows[r]
        pattern[r, t.path.column[row.start : row.end]] = True
        markers = t.marker_link[[row.marker_a, row.marker_b]]
        read = (row.direction_a, row.direction_b, row.x_a, row.y_a, row.x_b)
        for link in (*markers, *t.direction_link[list(read)]):
            pattern[r, list(moving[int(link)])] = True
    return pattern
