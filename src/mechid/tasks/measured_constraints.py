"""What else is known of the bodies of a mechanism, as an identification is told it."""

from __future__ import annotations

from dataclasses import dataclass

from mechid.errors import DataError
from mechid.estimation.measured_constraints import MeasuredConstraint, weighed
from mechid.estimation.prior import Prior
from mechid.estimation.symmetry import Plane, mirrored_pairs, symmetric
from mechid.mechanism.records import Mechanism


@dataclass(frozen=True)
class Weighing:
    """What a balance said: the mass of bodies together and its deviation (kg)."""

    bodies: tuple[str, ...]
    mass: float
    sigma: float = 0.0


@dataclass(frozen=True)
class MeasuredConstraints:
    """Facts besides the CAD values.

    Attributes
    ----------
    weighed : tuple of Weighing
    symmetric : str, optional
        Axis of the ground (x, y or z) to which the plane is normal, through the origin, in which
        pairs of bodies mirror each other exactly.
    """

    weighed: tuple[Weighing, ...] = ()
    symmetric: str | None = None

    def __bool__(self) -> bool:
        """Whether there is a fact at all."""
        return bool(self.weighed) or self.symmetric is not None


NO_CONSTRAINTS = MeasuredConstraints()


def constraints_from(
    known: MeasuredConstraints, prior: Prior, mechanism: Mechanism
) -> tuple[MeasuredConstraint, ...]:
    """Return facts as statements about the parameters.

    Raises
    ------
    DataError
        If they are none of this mechanism.
    """
    found = [weighed(prior, w.bodies, w.mass, w.sigma) for w in known.weighed]
    if known.symmetric is not None:
        found += symmetric(prior, mechanism, Plane.across(known.symmetric))
    return tuple(found)


def check_constraints(known: MeasuredConstraints, mechanism: Mechanism) -> None:
    """Refuse facts about bodies that a mechanism does not have, before anything is computed.

    Raises
    ------
    DataError
    """
    bodies = [body.name for body in mechanism.bodies if not body.massless]
    for w in known.weighed:
        for name in w.bodies:
            if name not in bodies:
                raise DataError(
                    f"no body {name} with a mass can be weighed",
                    where=mechanism.name,
                    remedy=f"those are {', '.join(bodies)}",
                )
    if known.symmetric is not None:
        plane = Plane.across(known.symmetric)
        if not mirrored_pairs(mechanism, plane):
            raise DataError(
                f"no two bodies mirror each other across {known.symmetric} = 0",
                where=mechanism.name,
                remedy="leave --symmetric out, or name another axis",
            )
