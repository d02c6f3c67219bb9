"""Checks of the whole mechanism that no single entry can fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mechid.errors import ModelError
from mechid.mechanism.element_terms import driven_joints, undriven_load
from mechid.mechanism.records import GROUND, ForceElement, IndependentCoordinate, Joint
from mechid.textfile.yamlio import Key


def check_connected(bodies: Mapping[str, Key], joints: Iterable[Joint]) -> None:
    """Reject bodies that no chain of joints connects to the ground."""
    if not bodies:
        raise ModelError("the mechanism has no bodies", path=("bodies",), remedy="define a body")
    neighbours: dict[str, set[str]] = {name: set() for name in (GROUND, *bodies)}
    for joint in joints:
        neighbours[joint.body_a].add(joint.body_b)
        neighbours[joint.body_b].add(joint.body_a)
    reached, waiting = {GROUND}, [GROUND]
    while waiting:
        for name in neighbours[waiting.pop()] - reached:
            reached.add(name)
            waiting.append(name)
    loose = [name for name in bodies if name not in reached]
    if loose:
        verb = "is" if len(loose) == 1 else "are"
        raise ModelError(
            f"{', '.join(loose)} {verb} not connected to the ground",
            path=bodies[loose[0]],
            remedy="join them, or give one a free joint to the ground",
        )


def check_unique(coordinates: Iterable[IndependentCoordinate], paths: Mapping[str, Key]) -> None:
    """Reject two coordinates or two forces of one name, and one coordinate chosen twice."""
    forces: dict[str, str] = {}
    chosen: dict[tuple[object, ...], str] = {}
    for c in coordinates:
        if c.force in forces:
            raise ModelError(
                f"the force {c.force} acts on {forces[c.force]} already",
                path=(*paths[c.name], "force"),
                remedy="give it another name",
            )
        forces[c.force] = c.name
        what = tuple(v for k, v in vars(c).items() if k not in ("name", "force", "held"))
        if what in chosen:
            raise ModelError(
                f"this is the same coordinate as {chosen[what]}",
                path=paths[c.name],
                remedy="remove one of them",
            )
        chosen[what] = c.name


def check_loads(
    elements: Iterable[ForceElement],
    coordinates: Iterable[IndependentCoordinate],
    joints: Mapping[str, Joint],
    paths: Mapping[str, Key],
) -> None:
    """Reject friction that depends on the load of a joint whose force nobody gives."""
    driven = driven_joints(coordinates, joints.__getitem__)
    for e in elements:
        if fault := undriven_load(e, driven):
            choices = ", ".join(dict.fromkeys(joint for joint, _ in driven)) or "none here"
            raise ModelError(
                fault,
                path=(*paths[e.name], "load"),
                remedy=f"choose a joint of an independent coordinate: {choices}",
            )
