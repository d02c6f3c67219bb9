"""Rows of the independent coordinates: what each of them measures in a pose."""

from __future__ import annotations

from mechid.kinematics.reference_point.constraints import (
    GROUND_AXES,
    ORIGIN,
    Form,
    Product,
    Row,
    angle_products,
    axis,
    body_numbers,
    dot,
    separation,
)
from mechid.mechanism.records import (
    GROUND,
    DistanceConstraint,
    DistanceCoordinate,
    IndependentCoordinate,
    Joint,
    Mechanism,
    PointCoordinate,
)


def driver_rows(mechanism: Mechanism) -> tuple[Row, ...]:
    """Return one row per independent coordinate, in the order of the mechanism."""
    numbers = body_numbers(mechanism)
    return tuple(driver_row(c, mechanism, numbers) for c in mechanism.coordinates)


def joint_coordinate_row(name: str, joint: Joint, index: int, numbers: dict[str, int]) -> Row:
    """Return the row of joint coordinate `index` (orientations as roll, pitch, yaw)."""
    step = joint.kind.step(index)
    if step.motion == "slide":
        direction = axis(joint.frame_a, step.axis)
        distance = separation(joint, numbers, direction, numbers[joint.body_a])
        return Row(name, joint.name, "driver", "value", "m", (distance,), index=index)
    form: Form = "angle"
    products: tuple[Product, ...] = angle_products(joint, numbers)
    angle = index - joint.kind.n_scalars  # roll, pitch, yaw of a ball
    if step.on == 1 or (step.motion == "ball" and angle == 0):
        # R_ab = Rz(q1) Rx(q2), or Rz(yaw) Ry(pitch) Rx(roll): row z is cos(pitch) (…, sin, cos)
        products = (dot(joint, numbers, 2, 1), dot(joint, numbers, 2, 2))
    elif step.motion == "ball" and angle == 1:
        form = "pitch"
        x_b = [dot(joint, numbers, k, 0) for k in range(3)]
        products = (x_b[2], x_b[0], x_b[1])
    return Row(name, joint.name, "driver", form, "-", products, index=index)


def apart(
    pair: DistanceCoordinate | DistanceConstraint, numbers: dict[str, int]
) -> tuple[Product, ...]:
    """Return the components of the vector between two points."""
    a, b, ground = pair.point_a, pair.point_b, numbers[GROUND]
    return tuple(
        Product(ground, e, numbers[a.body], a.local, numbers[b.body], b.local, True)
        for e in GROUND_AXES
    )


def driver_row(
    coordinate: IndependentCoordinate, mechanism: Mechanism, numbers: dict[str, int]
) -> Row:
    """Return the row of one independent coordinate."""
    ground = numbers[GROUND]
    name = coordinate.name
    if isinstance(coordinate, PointCoordinate):
        point = coordinate.point
        place = Product(
            ground, coordinate.direction, ground, ORIGIN, numbers[point.body], point.local, True
        )
        return Row(name, "", "driver", "value", "m", (place,))
    if isinstance(coordinate, DistanceCoordinate):
        return Row(name, "", "driver", "distance", "m", apart(coordinate, numbers))
    return joint_coordinate_row(name, mechanism.joint(coordinate.joint), coordinate.index, numbers)
