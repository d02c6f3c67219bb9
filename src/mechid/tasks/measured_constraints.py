"""What else is known of the bodies of a mechanism, as an identification is told it."""

from __future__ import annotations

from mechid.errors import DataError
from mechid.estimation.measured_constraints import MeasuredConstraint, weighed
from mechid.estimation.prior import Prior
from mechid.estimation.symmetry import Plane, mirrored_pairs, symmetric
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions


def constraints_from(
    options: IdentifyOptions, prior: Prior, mechanism: Mechanism
) -> tuple[MeasuredConstraint, ...]:
    """Return measured masses and symmetry as statements about the parameters.

    Raises
    ------
    DataError
        If they do not belong to this mechanism.
    """
    found = [weighed(prior, w.bodies, w.mass, w.sigma) for w in options.weigh]
    if options.symmetric is not None:
        found += symmetric(prior, mechanism, Plane.across(options.symmetric))
    return tuple(found)


def check_constraints(options: IdentifyOptions, mechanism: Mechanism) -> None:
    """Reject constraints on bodies that a mechanism does not have, before anything is computed.

    Raises
    ------
    DataError
    """
    bodies = [body.name for body in mechanism.bodies if not body.massless]
    for w in options.weigh:
        for name in w.bodies:
            if name not in bodies:
                raise DataError(
                    f"there is no body {name} with a mass",
                    where=mechanism.name,
                    remedy=f"choose one of: {', '.join(bodies)}",
                )
    if options.symmetric is not None:
        plane = Plane.across(options.symmetric)
        if not mirrored_pairs(mechanism, plane):
            raise DataError(
                f"no two bodies mirror each other across {options.symmetric} = 0",
                where=mechanism.name,
                remedy="omit symmetric, or name another axis",
            )
