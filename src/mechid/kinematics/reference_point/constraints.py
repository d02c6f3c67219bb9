"""The constraints of every joint as rows built of one elementary product (symbols: NOTATION.md).

Each row is made of products u · w. The first factor u is a direction fixed in a body; the second
is the vector from a point of body a to a point of body b, or a direction fixed in body b:

==============  ==========================================================================
kind of row     product
==============  ==========================================================================
point           e_k · (r_b - r_a) = 0, with e_k a ground axis (or an axis of frame a)
plane           d_a · (r_b - r_a) = 0
dot             d_a · d_b = 0
screw           z_a · (r_b - r_a) - pitch θ / 2π = 0, with θ = atan2 of two dots
distance        |r_b - r_a| - length = 0
coupling        Σ factor × coordinate - constant = 0, angles as atan2 of two dots
norm            eᵀe - 1 = 0
==============  ==========================================================================

All but screw, distance and coupling are polynomials in positions and Euler parameters.

A dot row is blind to a turn by 180°: a revolute joint with its axis reversed satisfies the same
equations. Newton's method started with every axis within 90° of its place stays on the right one;
`flipped_joints` tells afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

import numpy as np

from mechid.mechanism.records import GROUND, Frame, Joint, Mechanism, Vec3

Kind: TypeAlias = Literal[
    "point", "plane", "dot", "screw", "distance", "coupling", "norm", "driver"
]
Form: TypeAlias = Literal["value", "angle", "pitch", "screw", "distance", "coupling", "norm"]
PointAxes: TypeAlias = Literal["ground", "joint"]

AXES = "xyz"
ORIGIN: Vec3 = (0.0, 0.0, 0.0)
GROUND_AXES: tuple[Vec3, Vec3, Vec3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Product:
    """u · w: u is `direction` fixed in body `of`; w = r_b - r_a, or a direction fixed in body b.

    Bodies are numbered as in the mechanism; the ground comes last. With `points` false, `local_b`
    is a direction and body a plays no part.
    """

    of: int
    direction: Vec3
    a: int
    local_a: Vec3
    b: int
    local_b: Vec3
    points: bool


@dataclass(frozen=True)
class Row:
    """One scalar equation: a function (`form`) of a few products.

    `unit` is that of the row's value, "m" or "-" ("rad" counts as "-"); `coefficient` is the
    advance per radian of a screw, the length of a distance, the constant of a coupling; `terms` are
    the coordinates of a coupling, as (row, factor); `index` is the number of a joint coordinate;
    `body` is set for a norm.
    """

    name: str
    joint: str
    kind: Kind
    form: Form
    unit: Literal["m", "-"]
    products: tuple[Product, ...] = ()
    coefficient: float = 0.0
    body: int = -1
    index: int = -1
    terms: tuple[tuple[Row, float], ...] = ()

    @property
    def angles(self) -> tuple[tuple[str, int], ...]:
        """Joint and number of the coordinates whose full turns count in this row."""
        if self.form == "screw":
            return ((self.joint, 0),)
        return tuple((t.joint, t.index) for t, _ in self.terms if t.form == "angle")


def body_numbers(mechanism: Mechanism) -> dict[str, int]:
    """Number the bodies in the order of the mechanism, the ground last."""
    numbers = {body.name: i for i, body in enumerate(mechanism.bodies)}
    numbers[GROUND] = len(mechanism.bodies)
    return numbers


def axis(frame: Frame, k: int) -> Vec3:
    """Return axis k of a joint frame in the coordinates of its body."""
    r = frame.rotation
    return (r[0][k], r[1][k], r[2][k])


def separation(joint: Joint, numbers: dict[str, int], direction: Vec3, of: int) -> Product:
    """Return the distance from frame a to frame b along a direction fixed in body `of`."""
    a, b = numbers[joint.body_a], numbers[joint.body_b]
    return Product(of, direction, a, joint.frame_a.origin, b, joint.frame_b.origin, True)


def dot(joint: Joint, numbers: dict[str, int], i: int, j: int) -> Product:
    """Return the product of axis i of frame a and axis j of frame b: entry (i, j) of R_ab."""
    a, b = numbers[joint.body_a], numbers[joint.body_b]
    return Product(a, axis(joint.frame_a, i), a, ORIGIN, b, axis(joint.frame_b, j), False)


def angle_products(joint: Joint, numbers: dict[str, int]) -> tuple[Product, Product]:
    """Return sine and cosine of the turn of frame b about z of frame a."""
    return dot(joint, numbers, 1, 0), dot(joint, numbers, 0, 0)


def joint_rows(
    joint: Joint, numbers: dict[str, int], point_axes: PointAxes = "ground"
) -> Iterator[Row]:
    """Yield the constraint rows of a joint: translations first, then rotations.

    Point rows along ground axes are the polynomials of lowest degree; along the axes of frame a
    they mean what their names say, which is what a report of redundant constraints needs.
    """
    a, ground, kind = numbers[joint.body_a], numbers[GROUND], joint.kind
    for k in kind.held_axes:
        if kind.holds_point and point_axes == "ground":
            held = separation(joint, numbers, GROUND_AXES[k], ground)
        else:
            held = separation(joint, numbers, axis(joint.frame_a, k), a)
        name = f"joint {joint.name}: translation along {AXES[k]}"
        row: Kind = "point" if kind.holds_point else "plane"
        yield Row(name, joint.name, row, "value", "m", (held,))
    if kind.thread:
        slide = separation(joint, numbers, axis(joint.frame_a, 2), a)
        products = (slide, *angle_products(joint, numbers))
        name = f"joint {joint.name}: advance along z"
        lead = joint.pitch / (2 * np.pi)
        yield Row(name, joint.name, "screw", "screw", "m", products, coefficient=lead)
    # Axis i of a normal to axis j of b: no rotation about the third axis.
    for third, i, j in sorted((3 - i - j, i, j) for i, j in kind.held_pairs):
        about = AXES[third] if kind.aligned else "the normal of its axes"
        name = f"joint {joint.name}: rotation about {about}"
        yield Row(name, joint.name, "dot", "value", "-", (dot(joint, numbers, i, j),))


def constraint_rows(mechanism: Mechanism, point_axes: PointAxes = "ground") -> tuple[Row, ...]:
    """Return the rows of all joints, in the order of the mechanism."""
    numbers = body_numbers(mechanism)
    return tuple(row for j in mechanism.joints for row in joint_rows(j, numbers, point_axes))


def norm_rows(mechanism: Mechanism) -> tuple[Row, ...]:
    """Return one row per body that keeps its Euler parameters of unit length."""
    return tuple(
        Row(f"body {body.name}: unit quaternion", "", "norm", "norm", "-", body=i)
        for i, body in enumerate(mechanism.bodies)
    )


def sense_rows(mechanism: Mechanism) -> tuple[Row, ...]:
    """Return the cosines that must be positive (+1) where the dot rows only say 0 or 180°."""
    numbers = body_numbers(mechanism)
    rows = []
    for joint, k in product(mechanism.joints, (2, 0)):
        if k in joint.kind.aligned:
            cosine = dot(joint, numbers, k, k)
            rows.append(Row(f"axis {AXES[k]}", joint.name, "dot", "value", "-", (cosine,)))
    return tuple(rows)
