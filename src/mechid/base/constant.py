"""What of each body stays constant: points and directions at rest, directions of constant height.

The ground shares everything with itself. A joint hands on what both of its bodies share, so the
vectors at rest spread from the ground along the joints: through parallel revolute joints the normal
of a planar linkage, through axes that meet the centre of a spherical one, through prismatic
joints all directions. Nothing here looks at loops or at poses: it holds by the joints alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flint import arb

from mechid.base.homogeneous import ONE, ZERO, Rho, direction, point, shared_vectors
from mechid.base.spaces import Row, contains, left_null, reduced, size
from mechid.exact.geometry import Geometry
from mechid.exact.numbers import exactly
from mechid.mechanism.records import GROUND

EXACT_ZERO = 2.0**-100
ROUNDED_ZERO = 1e-11


@dataclass(frozen=True, eq=False)
class Constant:
    """Vectors of one body that do not move, in its frame, as reduced rows of balls.

    Attributes
    ----------
    at_rest : list of rows of 8
        (ρ, c): ρ in the body stays at c in the ground, both homogeneous.
    directions : list of rows of 3
        Directions at rest.
    level : list of rows of 3
        Directions whose component along gravity is constant.
    """

    at_rest: list[Row]
    directions: list[Row]
    level: list[Row]


@dataclass(frozen=True)
class _Link:
    bodies: tuple[str, str]
    pairs: tuple[tuple[Row, Row], ...]

    def seen_from(self, side: int) -> list[tuple[Row, Row]]:
        return [(p[side], p[1 - side]) for p in self.pairs]


def zero_of(geometry: Geometry) -> float:
    """Return what counts as zero: next to nothing where all numbers are exact."""
    return ROUNDED_ZERO if geometry.rounded else EXACT_ZERO


@exactly
def constants(
    geometry: Geometry,
    gravity: tuple[float, float, float],
    held: dict[str, list[Row]] | None = None,
) -> dict[str, Constant]:
    """Return what stays constant in each body (and in the crosses of universal joints).

    Parameters
    ----------
    held : mapping, optional
        Further (ρ, c) of bodies that the loops hold at rest.
    """
    zero = zero_of(geometry)
    links = _links(geometry)
    unit = [[arb(int(i == j)) for j in range(4)] for i in range(4)]
    rest = {GROUND: [[*row, *row] for row in unit]}
    for name, rows in (held or {}).items():
        rest[name] = _completed(reduced(rows, zero), zero)
    _spread(rest, links, lambda space, pairs: _handed_on(space, pairs, zero), zero)
    g = [arb(x) for x in gravity]
    names = {body.name for body in geometry.mechanism.bodies} | {b for x in links for b in x.bodies}
    level: dict[str, list[Row]] = {}
    for name in names:
        level[name] = _level(rest.get(name, []), g, zero)
    _spread(level, links, lambda space, pairs: _level_on(space, pairs, zero), zero)
    return {
        name: Constant(rest.get(name, []), _directions(rest.get(name, []), zero), level[name])
        for name in names
    }


@dataclass(frozen=True, eq=False)
class Sliding:
    """A body with points that only move along a fixed direction d.

    Attributes
    ----------
    body : str
    points : list of rows of 4
        Homogeneous vectors that do not move but along d.
    across : list of rows of 3
        Directions whose components along d and along gravity are constant: they move across d.
    """

    body: str
    points: list[Row]
    across: list[Row]


@exactly
def sliding(geometry: Geometry, rest: dict[str, Constant]) -> list[Sliding]:
    """Return the bodies with a point that slides along a fixed direction, by the joints alone."""
    found = []
    zero = zero_of(geometry)
    lines = list(_slides(geometry, rest))
    while lines:
        d = lines[0][1]
        names = tuple(name for name, e in lines if parallel(e, d, zero))
        lines = [line for line in lines if line[0] not in names]
        links = _links(geometry, names)
        points = {GROUND: [[arb(int(i == j)) for j in range(4)] for i in range(4)]}
        _spread(points, links, lambda space, pairs: _handed_on(space, pairs, zero), zero)
        across = {name: _level(rest[name].at_rest, d, zero) for name in rest}
        _spread(across, links, lambda space, pairs: _level_on(space, pairs, zero), zero)
        for body in geometry.mechanism.bodies:
            space, still = points.get(body.name, []), rest[body.name]
            has_point = any(size(row[3]) > zero for row in space)
            if has_point and len(still.at_rest) == len(still.directions):
                common = _common(across[body.name], still.level, zero)
                found.append(Sliding(body.name, space, common))
    return found


def _common(a: list[Row], b: list[Row], zero: float) -> list[Row]:
    """Return the intersection of two spaces."""
    if not a or not b:
        return []
    found = left_null([*a, *([-x for x in row] for row in b)], zero)
    return reduced([_combined(x[: len(a)], a) for x in found], zero)


def parallel(a: Row, b: Row, zero: float) -> bool:
    """Say whether a is a multiple of b (zero is one)."""
    return all(size(x) <= zero * max(1.0, *map(size, a)) for x in cross(a, b))


def _slides(geometry: Geometry, rest: dict[str, Constant]) -> Iterator[tuple[str, Row]]:
    """Yield the joints that slide along a direction at rest, and that direction in the ground."""
    for joint in geometry.mechanism.joints:
        if joint.kind.line is not None:
            axis = direction(geometry.frames[joint.name, 0].axes[joint.kind.line])
            d = image_at_rest(geometry, rest[joint.body_a], axis)
            if d:
                yield joint.name, d


def image_at_rest(geometry: Geometry, rest: Constant, u: Rho) -> Row:
    """Return where a direction of a body points in the ground; nothing if it is not at rest."""
    zero = zero_of(geometry)
    row = [geometry.balls(x) for x in u]
    found = _handed_on(rest.at_rest, [(row, row)], zero)
    return next((r[4:7] for r in found if any(size(x) > zero for x in r[:3])), [])


def _links(geometry: Geometry, slides: tuple[str, ...] = ()) -> list[_Link]:
    """Return what the joints share; the origins of `slides` too."""
    balls = geometry.balls

    def row(rho: Rho) -> Row:
        return [balls(x) for x in rho]

    links = []
    for joint in geometry.mechanism.joints:
        a, b = joint.body_a, joint.body_b
        pairs = tuple((row(s.on_a), row(s.on_b)) for s in shared_vectors(joint, geometry))
        if joint.name in slides:
            origins = (geometry.frames[joint.name, side].origin for side in (0, 1))
            at_a, at_b = (row(point(origin)) for origin in origins)
            pairs = (*pairs, (at_a, at_b))
        if joint.kind.crossed is not None:
            i, j = joint.kind.crossed
            cross = f"cross of {joint.name}"
            center = point((ZERO, ZERO, ZERO))
            frame_a, frame_b = geometry.frames[joint.name, 0], geometry.frames[joint.name, 1]
            first = direction((ZERO, ZERO, ONE))
            second = direction((ONE, ZERO, ZERO))
            on_a = [(direction(frame_a.axes[i]), first)]
            on_b = [(second, direction(frame_b.axes[j]))]
            if joint.kind.holds_point or joint.name in slides:
                on_a.insert(0, (point(frame_a.origin), center))
                on_b.insert(0, (center, point(frame_b.origin)))
            links.append(_Link((a, cross), tuple((row(x), row(y)) for x, y in on_a)))
            links.append(_Link((cross, b), tuple((row(x), row(y)) for x, y in on_b)))
        else:
            links.append(_Link((a, b), pairs))
    return links


def _spread(
    spaces: dict[str, list[Row]],
    links: list[_Link],
    hand_on: Callable[[list[Row], list[tuple[Row, Row]]], list[Row]],
    zero: float,
) -> None:
    """Hand vectors on across joints until nothing new arrives."""
    of: dict[str, list[tuple[_Link, int]]] = {}
    for link in links:
        for side, name in enumerate(link.bodies):
            of.setdefault(name, []).append((link, side))
    waiting = [name for name, space in spaces.items() if space]
    while waiting:
        name = waiting.pop(0)
        for link, side in of.get(name, []):
            other = link.bodies[1 - side]
            if other == GROUND:
                continue
            found = hand_on(spaces[name], link.seen_from(side))
            before = spaces.get(other, [])
            after = reduced([*before, *found], zero)
            if len(after) > len(before):
                spaces[other] = _completed(after, zero)
                waiting.append(other)


def _handed_on(space: list[Row], pairs: list[tuple[Row, Row]], zero: float) -> list[Row]:
    """Return (ρ_j, c) for every ρ_i that is at rest and shared."""
    if not space or not pairs:
        return []
    rows = [*(s[:4] for s in space), *([-x for x in p] for p, _ in pairs)]
    found = []
    for x in left_null(rows, zero):
        image = _combined(x[len(space) :], [q for _, q in pairs])
        place = _combined(x[: len(space)], [s[4:] for s in space])
        found.append([*image, *place])
    return found


def _level_on(space: list[Row], pairs: list[tuple[Row, Row]], zero: float) -> list[Row]:
    turning = [(p[:3], q[:3]) for p, q in pairs if size(p[3]) <= zero]
    if not space or not turning:
        return []
    rows = [*space, *([-x for x in p] for p, _ in turning)]
    return [_combined(x[len(space) :], [q for _, q in turning]) for x in left_null(rows, zero)]


def _level(rest: list[Row], g: Row, zero: float) -> list[Row]:
    """Return the directions that keep their component along gravity, by what is at rest."""
    everything = [[arb(int(i == j)) for j in range(3)] for i in range(3)]
    still = _still(rest, zero)
    if all(size(x) <= zero for x in g):
        return everything
    if contains(reduced([r[4:7] for r in still], zero), g, zero * max(map(size, g))):
        return everything
    return reduced([r[:3] for r in still], zero)


def _still(rest: list[Row], zero: float) -> list[Row]:
    """Return the combinations of (ρ, c) that are directions."""
    if not rest:
        return []
    return [_combined(x, rest) for x in left_null([[r[3]] for r in rest], zero)]


def _directions(rest: list[Row], zero: float) -> list[Row]:
    return reduced([r[:3] for r in _still(rest, zero)], zero)


def _completed(rest: list[Row], zero: float) -> list[Row]:
    """Add the third direction where two are at rest."""
    if not rest or len(rest[0]) != 8:
        return rest
    still = _still(rest, zero)
    if len(still) != 2:
        return rest
    a, b = still
    third = [*cross(a[:3], b[:3]), arb(0), *cross(a[4:7], b[4:7]), arb(0)]
    return reduced([*rest, third], zero)


def cross(a: Row, b: Row) -> Row:
    """Return a × b."""
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def _combined(weights: Row, rows: list[Row]) -> Row:
    return [
        sum((w * r[k] for w, r in zip(weights, rows, strict=True)), arb(0))
        for k in range(len(rows[0]))
    ]
