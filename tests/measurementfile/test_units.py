"""Units."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechid.errors import DataError
from mechid.measurementfile.units import parse_unit
from mechid.modelfile.units import SIZES


@pytest.mark.parametrize(
    ("text", "size", "dimension"),
    [
        ("mm", 1e-3, (1, 0, 0, 0)),
        ("deg", math.pi / 180, (0, 1, 0, 0)),
        ("°/s", math.pi / 180, (0, 1, 0, -1)),
        ("rpm", math.pi / 30, (0, 1, 0, -1)),
        ("rev/min", math.pi / 30, (0, 1, 0, -1)),
        ("mm/s^2", 1e-3, (1, 0, 0, -2)),
        ("mm/s²", 1e-3, (1, 0, 0, -2)),
        ("m/s/s", 1.0, (1, 0, 0, -2)),
        ("kN", 1e3, (1, 0, 1, -2)),
        ("N mm", 1e-3, (2, 0, 1, -2)),
        ("N·m", 1.0, (2, 0, 1, -2)),
        ("kN*m", 1e3, (2, 0, 1, -2)),
        ("Nm", 1.0, (2, 0, 1, -2)),
        ("kg m s^-2", 1.0, (1, 0, 1, -2)),
        ("1/s", 1.0, (0, 0, 0, -1)),
        ("ft", 0.3048, (1, 0, 0, 0)),
        ("kgf", 9.80665, (1, 0, 1, -2)),
        ("ft lbf", 0.3048 * 4.4482216152605, (2, 0, 1, -2)),
        ("lbf-in", 0.0254 * 4.4482216152605, (2, 0, 1, -2)),
    ],
)
def test_known_units(text: str, size: float, dimension: tuple[int, ...]) -> None:
    unit = parse_unit(text)
    assert unit.size == pytest.approx(size, rel=1e-15)
    assert unit.dimension == dimension


@pytest.mark.parametrize("text", ["V", "", "furlong", "m//s", "N_m", "mm s s s/"])
def test_unknown_units(text: str) -> None:
    with pytest.raises(DataError, match="unknown unit"):
        parse_unit(text)


PIECES = ["m", "kN", "deg", "s", "rpm", " ", "*", "/", "^2", "-", "²", "(", "V", "1"]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
def test_any_text_is_a_unit_or_a_clear_refusal(text: str) -> None:
    with contextlib.suppress(DataError):
        assert parse_unit(text).size > 0


def test_lengths_and_forces_of_models_are_units_of_logs() -> None:
    for quantity, dimension in (("length", (1, 0, 0, 0)), ("force", (1, 0, 1, -2))):
        for name, size in SIZES[quantity].items():
            unit = parse_unit(name)
            assert unit.size == pytest.approx(float(size), rel=1e-15)
            assert unit.dimension == dimension
