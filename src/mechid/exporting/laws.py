"""Force elements as robot formats have them: linear in a coordinate, and dry friction.

What actuators supply for a measure s is k s - p + c s' + f sign s' + J s''. All terms on the same
measure are summed; what is not of this form is listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mechid.mechanism.element_kinds import Term
from mechid.mechanism.element_laws import (
    CONSTANT,
    DAMPER,
    FRICTION,
    HYSTERESIS,
    INERTIA,
    LOAD,
    SPRING,
    Measure,
)
from mechid.mechanism.element_terms import terms_of
from mechid.mechanism.records import Mechanism


@dataclass(frozen=True)
class LinearLaw:
    """What acts on one measure.

    Attributes
    ----------
    stiffness : float
        k, F/x.
    preload : float
        p, F: minus the force at s = 0.
    damping : float
        c, F s/x.
    friction : float
        f, F.
    inertia : float
        J, of a rotor.
    """

    stiffness: float = 0.0
    preload: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    inertia: float = 0.0

    def __add__(self, other: LinearLaw) -> LinearLaw:
        """Sum of what acts on the same measure."""
        return LinearLaw(*(a + b for a, b in zip(self._all, other._all, strict=True)))

    def through(self, ratio: float) -> LinearLaw:
        """Return what acts on a coordinate q if s = ratio · q."""
        k, p, c, f, inertia = self._all
        r2 = ratio * ratio
        return LinearLaw(k * r2, p * ratio, c * r2, f * abs(ratio), inertia * r2)

    @property
    def at_rest(self) -> float:
        """Where the spring exerts nothing, in the unit of s."""
        return self.preload / self.stiffness if self.stiffness else 0.0

    @property
    def _all(self) -> tuple[float, float, float, float, float]:
        return self.stiffness, self.preload, self.damping, self.friction, self.inertia


@dataclass(frozen=True)
class Laws:
    """What acts on each measure, the first element that does so, and what is not linear."""

    of: dict[Measure, LinearLaw]
    names: dict[Measure, str]
    left_out: tuple[str, ...]


def linear_laws(mechanism: Mechanism) -> Laws:
    """Return the force elements of a mechanism by measure.

    A motor on a single joint coordinate counts as acting on this coordinate. All coefficients must
    have values.
    """
    found: dict[Measure, LinearLaw] = {}
    names: dict[Measure, str] = {}
    left_out = [
        f"load {e.name} (a function of time)" for e in mechanism.elements if e.history is not None
    ]
    terms = [(part.name, term) for e in mechanism.elements for part, term in terms_of(e)]
    for name, term in _both_directions(terms):
        law, why = _linear(term)
        if why:
            left_out.append(f"{term.name} ({why})")
        if law is not None:
            measure, ratio = _single(term.measure)
            found[measure] = found.get(measure, LinearLaw()) + law.through(ratio)
            names.setdefault(measure, name)
    for measure, law in found.items():
        if law.preload and not law.stiffness > 0:
            left_out.append(f"preload of {law.preload:g} of {names[measure]} (without a spring)")
    return Laws(found, names, tuple(left_out))


def _both_directions(terms: Iterable[tuple[str, Term]]) -> Iterator[tuple[str, Term]]:
    """Yield the terms; equal friction of the two directions becomes one term."""
    waiting: dict[tuple[object, ...], tuple[str, Term]] = {}
    for name, term in terms:
        side = term.shape[3] if term.law == FRICTION else 0.0
        if not side:
            yield name, term
            continue
        key = (term.measure, *term.shape[:3], term.coefficient.value)
        if waiting.pop((*key, -side), None) is None:
            waiting[*key, side] = name, term
        else:
            yield name, term._replace(shape=(*term.shape[:3], 0.0))
    yield from waiting.values()


def _linear(term: Term) -> tuple[LinearLaw | None, str]:
    """Return the law of a term, or the part that is linear, and what is lost."""
    x = float(term.coefficient.value or 0.0)
    a, b, _, d = term.shape
    if term.measure[0] in ("slide", "dot") or _of_frames(term.measure):
        return None, "bushing"
    power = b if term.law in (SPRING, DAMPER) else 0.0
    if term.law == FRICTION and (b > 0 or d):
        return None, "friction that falls with the speed" if b > 0 else "friction of one direction"
    found = {
        (CONSTANT, 0.0): LinearLaw(preload=x),
        (SPRING, 1.0): LinearLaw(stiffness=x, preload=x * a),
        (DAMPER, 1.0): LinearLaw(damping=x),
        (FRICTION, 0.0): LinearLaw(friction=x),
        (HYSTERESIS, 0.0): LinearLaw(friction=x),
        (INERTIA, 0.0): LinearLaw(inertia=x),
    }.get((term.law, power))
    if found is None:
        return None, "load" if term.law == LOAD else "a nonlinear spring or damper"
    if term.law == HYSTERESIS:
        return found, "hysteresis, becomes dry friction"
    return found, f"smoothing of {a:g}" if term.law == FRICTION and a > 0 else ""


def _of_frames(measure: Measure) -> bool:
    return measure[0] == "sum" and any(part[0] in ("slide", "dot") for part, _ in measure[1:])


def _single(measure: Measure) -> tuple[Measure, float]:
    """Return the coordinate and the factor of a sum of one term; else the measure itself."""
    if measure[0] == "sum":
        parts = [(part, float(factor)) for part, factor in measure[1:] if factor]
        return parts[0] if len(parts) == 1 else (("sum", *parts), 1.0)
    return measure, 1.0
