"""The table of laws and elements: derivatives, energies, units, mirror images."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.mechanism.element_kinds import ELEMENT_KINDS
from mechid.mechanism.element_laws import (
    CONSTANT,
    DAMPER,
    FRICTION,
    HYSTERESIS,
    INERTIA,
    LAWS,
    LOAD,
    SLOPE,
    SPEED_SLOPE,
    SPRING,
    Shape,
    law_degree,
    law_potential,
    law_slope,
    law_unit,
    law_value,
)
from mechid.mechanism.element_terms import frame_measures, mirrored

from ..property.generate import random_part

INF = float("inf")
SHAPES: list[tuple[int, Shape]] = [
    (CONSTANT, (0, 0, 0, 0)),
    *((SPRING, (0.3, float(n), 0, 0)) for n in range(1, 5)),
    *((DAMPER, (0, float(n), 0, 0)) for n in range(1, 5)),
    *(
        (law, (0.1, low, high, 0))
        for law in (SLOPE, SPEED_SLOPE)
        for low, high in ((-INF, INF), (-0.4, 0.3), (0.2, INF), (-INF, -0.2), (-0.7, -0.1))
    ),
    *(
        (FRICTION, (smooth, speed, 1.7, side))
        for smooth in (0.0, 0.2)
        for speed in (0.0, 0.5)
        for side in (0.0, 1.0, -1.0)
    ),
    (INERTIA, (0, 0, 0, 0)),
    (LOAD, (0, 0, 0, 0)),
    (HYSTERESIS, (0.2, 0, 0, 0)),
]
AT = [-1.13, -0.57, -0.21, 0.09, 0.33, 0.87]  # off the knots


@pytest.mark.parametrize(("law", "shape"), SHAPES)
def test_slopes_and_energies_are_derivatives(law: int, shape: Shape) -> None:
    h = 1e-5
    for x in AT:
        slope = (law_value(law, x + h, *shape) - law_value(law, x - h, *shape)) / (2 * h)
        assert law_slope(law, x, *shape) == pytest.approx(slope, abs=1e-8)
        if LAWS[law].order == 0:
            work = (law_potential(law, x + h, *shape) - law_potential(law, x - h, *shape)) / (2 * h)
            assert work == pytest.approx(law_value(law, x, *shape), abs=1e-8)


@pytest.mark.parametrize(("law", "shape"), SHAPES)
def test_laws_grow_like_their_degree(law: int, shape: Shape) -> None:
    far = 1e6
    if law in (SLOPE, SPEED_SLOPE) and INF not in np.abs(shape):
        return
    top = max(abs(law_value(law, x, *shape)) for x in (far, -far))
    assert top / far ** law_degree(law, shape) <= 1 + 1e-4


def test_laws_by_hand() -> None:
    assert law_value(SPRING, 0.5, 0.3, 3.0, 0, 0) == pytest.approx(0.008)
    assert law_value(DAMPER, -0.5, 0, 2.0, 0, 0) == -0.25
    # A bump stop that is met after 0.2, and a spring that ends at 0.2.
    assert [law_value(SLOPE, x, 0, 0.2, INF, 0) for x in (-1.0, 0.1, 0.5)] == [0, 0, 0.3]
    assert [law_value(SLOPE, x, 0, -INF, 0.2, 0) for x in (-1.0, 0.1, 0.5)] == [-1, 0.1, 0.2]
    assert law_potential(SLOPE, 0.5, 0, 0.2, INF, 0) == pytest.approx(0.3**2 / 2)
    assert law_value(FRICTION, 0.5, 0, 0.5, 2.0, 0) == pytest.approx(np.exp(-1))
    assert law_value(FRICTION, -0.5, 0, 0, 0, 1.0) == 0
    assert law_value(FRICTION, -0.5, 0, 0, 0, -1.0) == -1
    assert law_value(FRICTION, 0.1, 0.2, 0, 0, 0) == pytest.approx(np.tanh(0.5))
    assert law_value(HYSTERESIS, -0.3, 0.1, 0, 0, 0) == pytest.approx(-0.75)


def test_units() -> None:
    assert law_unit(SPRING, (0, 1, 0, 0), False) == "N/m"
    assert law_unit(SPRING, (0, 3, 0, 0), True) == "N m/rad³"
    assert law_unit(DAMPER, (0, 1, 0, 0), True) == "N m s/rad"
    assert law_unit(DAMPER, (0, 2, 0, 0), False) == "N s²/m²"
    assert law_unit(SPEED_SLOPE, (0, 0, 0, 0), False) == "N s/m"
    assert law_unit(FRICTION, (0, 0, 0, 0), True) == "N m"
    assert law_unit(INERTIA, (0, 0, 0, 0), True) == "kg m²"


@pytest.mark.parametrize("word", ELEMENT_KINDS)
def test_the_image_of_an_image_is_the_element(word: str) -> None:
    kind = ELEMENT_KINDS[word]
    part = random_part("e", kind, np.random.default_rng(1))
    assert mirrored(kind, mirrored(kind, part)) == part


@pytest.mark.parametrize(
    "word", [w for w, kind in ELEMENT_KINDS.items() if kind.attachment in ("joint", "line")]
)
def test_the_image_of_an_element_pushes_the_other_way(word: str) -> None:
    """On s' = -s, the force of the image is minus that of the element."""
    kind, rng = ELEMENT_KINDS[word], np.random.default_rng(2)
    part = random_part("e", kind, rng)

    def force(values: object, s: float, rate: float) -> float:
        total = 0.0
        for term in kind.terms(values, frame_measures("J")):  # type: ignore[arg-type]
            x = (s, rate)[LAWS[term.law].order]
            total += (term.coefficient.value or 0.0) * law_value(term.law, x, *term.shape)
        return total

    for s, rate in rng.uniform(-2, 2, (20, 2)):
        image = force(mirrored(kind, part), -s, -rate)
        assert image == pytest.approx(-force(part, s, rate), abs=1e-12)


def test_every_kind_has_its_own_names() -> None:
    for kind in ELEMENT_KINDS.values():
        part = random_part("e", kind, np.random.default_rng(3))
        names = [term.name for term in kind.terms(part, frame_measures("J"))]
        assert len(set(names)) == len(names)
        assert all(name.endswith("_e") for name in names)
        assert len({key.name for key in kind.keys}) == len(kind.keys)
