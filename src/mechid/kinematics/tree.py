"""Spanning tree of the joint graph: which joints carry bodies, which are cut."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from mechid.errors import ModelError
from mechid.mechanism.element_terms import reads_angle
from mechid.mechanism.records import GROUND, Joint, JointCoordinate, Mechanism


@dataclass(frozen=True)
class TreeJoint:
    """A joint of the tree; `reverse` when it is walked from its body b to its body a."""

    joint: Joint
    reverse: bool

    @property
    def parent(self) -> str:
        """Body nearer to the ground."""
        return self.joint.body_b if self.reverse else self.joint.body_a

    @property
    def child(self) -> str:
        """Body that the joint carries."""
        return self.joint.body_a if self.reverse else self.joint.body_b


@dataclass(frozen=True)
class SpanningTree:
    """Tree joints in an order where parents come first, and the joints that are cut."""

    joints: tuple[TreeJoint, ...]
    cut: tuple[Joint, ...]


def spanning_tree(mechanism: Mechanism, keep: Collection[str] = ()) -> SpanningTree:
    """Grow the tree from the ground, always across the joint with the most constraints.

    Joints with many freedoms (spherical, universal) are then the ones left to cut, which leaves
    the fewest closure equations. Joints whose coordinates are independent coordinates stay in the
    tree, and so do coupled joints and joints with torsion springs as far as possible: the tree
    counts their turns, while the angle of a cut joint is known within ±π only. Ties go to the
    shorter chain, then to the order of the file. `mechanism.cut` overrides the choice. Joints to
    `keep` are cut only where all joints of a loop are such.
    """
    driven = {c.joint for c in mechanism.coordinates if isinstance(c, JointCoordinate)}
    sprung = {joint for e in mechanism.elements for joint in reads_angle(e)}
    coupled = {name for c in mechanism.couplings for name, _, _ in c.terms}
    forced = set(mechanism.cut or ())
    for name in forced & (driven | coupled):
        what = "carries an independent coordinate" if name in driven else "is coupled"
        raise ModelError(
            f"joint {name} {what} and cannot be cut",
            path=("cut",),
            remedy="cut another joint of its loop",
        )
    rank = {joint.name: i for i, joint in enumerate(mechanism.joints)}
    depth = {GROUND: 0}
    order: list[TreeJoint] = []
    left = [joint for joint in mechanism.joints if joint.name not in forced]
    while True:
        frontier = [j for j in left if (j.body_a in depth) != (j.body_b in depth)]
        if not frontier:
            break
        best = max(
            frontier,
            key=lambda j: (
                j.name in keep,
                j.name in driven,
                j.name in coupled,
                j.name in sprung,
                j.kind.n_constraints,
                -depth[j.body_a if j.body_a in depth else j.body_b],
                -rank[j.name],
            ),
        )
        left.remove(best)
        chosen = TreeJoint(best, reverse=best.body_b in depth)
        depth[chosen.child] = depth[chosen.parent] + 1
        order.append(chosen)
    lost = [body.name for body in mechanism.bodies if body.name not in depth]
    if lost:
        raise ModelError(
            f"cutting {', '.join(sorted(forced))} leaves {', '.join(lost)} unconnected",
            path=("cut",),
            remedy="cut one joint of each loop only",
        )
    kept = {step.joint.name for step in order}
    return SpanningTree(tuple(order), tuple(j for j in mechanism.joints if j.name not in kept))
