"""Small parts of the proof and of the transfers, against answers that are written out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx

from mechid.base.constant import cross
from mechid.base.dependencies import _fraction, exact_form
from mechid.base.fractions import FractionField
from mechid.base.loop_transfers import _order
from mechid.base.proof import _rank
from mechid.base.spectrum import read_rank
from mechid.base.verify import _regular
from mechid.exact.numbers import Balls

NAMES = ["monopole", *["dipole"] * 3, *["quadrupole"] * 6]


@pytest.mark.parametrize(("first", "name"), list(enumerate(NAMES)))
def test_a_distribution_has_the_name_of_its_lowest_moment(first: int, name: str) -> None:
    """Mass, its first moments, its second moments."""
    assert _order([sp.Integer(k == first) for k in range(10)]) == name
    assert _order([sp.Integer(k >= first) for k in range(10)]) == name


def test_no_distribution_has_no_name() -> None:
    assert _order([sp.Integer(0)] * 10) == ""


def test_rank_of_rows_relative_to_the_largest() -> None:
    assert _rank(np.zeros((0, 3))) == 0
    assert _rank(np.array([[1e-3, 0.0], [0.0, 1e-3], [1e-3, 1e-3]])) == 2
    assert _rank(1e9 * np.array([[1.0, 2.0], [2.0, 4.0]])) == 1


@pytest.mark.parametrize(
    ("rows", "regular"),
    [
        ([], True),
        ([[2.0]], True),
        ([[1.0, 2.0], [3.0, 4.0]], True),
        ([[1.0, 2.0], [2.0, 4.0]], False),
        ([[0.0, 2.0], [0.0, 4.0]], False),
        ([[1e-30, 1.0], [0.0, 1.0]], True),
    ],
)
def test_determinants_that_exclude_zero(rows: list[list[float]], regular: bool) -> None:
    """Also where the columns are of very different size."""
    assert _regular([[arb(x) for x in row] for row in rows]) is regular


def test_a_ball_that_holds_zero_excludes_nothing() -> None:
    assert not _regular([[arb(1.0, 2.0)]])
    assert _regular([[arb(1.0, 0.5)]])


def test_levels_of_a_spectrum() -> None:
    """Rounding eps √(M p), tolerance eps max(M, p), both of the largest value."""
    reading = read_rank(np.array([8.0, 4.0, 1e-3, 1e-15]), (100, 4), 2.0**-52)
    np.testing.assert_allclose(reading.spectrum, [1.0, 0.5, 1.25e-4, 1.25e-16])
    assert reading.rounding == pytest.approx(2.0**-52 * 20, rel=1e-12, abs=0.0)
    assert reading.tolerance == pytest.approx(2.0**-52 * 100, rel=1e-12, abs=0.0)
    assert (reading.rank, reading.largest_step) == (3, 3)
    assert (reading.kept, reading.dropped) == pytest.approx((1.25e-4, 1.25e-16), abs=0.0)
    assert reading.gap == pytest.approx(1e12, rel=1e-9)
    assert read_rank(np.array([8.0, 4.0, 1e-3]), (100, 3), 2.0**-52, 1e-2).rank == 2
    whole = read_rank(np.array([8.0, 4.0]), (100, 2), 2.0**-52)  # nothing to drop but rounding
    assert whole.gap == pytest.approx(0.5 / (2.0**-52 * np.sqrt(200)), rel=1e-9)
    assert read_rank(np.zeros(3), (100, 3), 2.0**-52).rank == 0


@pytest.mark.parametrize("number", ["3/7", "-5", "sqrt(2)/3", "-sqrt(5)", "-1/2"])
def test_fractions_and_their_roots_are_found_in_balls(number: str) -> None:
    """Also the sign of a root."""
    wanted = sp.sympify(number)
    with ctx.workprec(200):
        assert _fraction(arb(str(sp.N(wanted, 60)))) == wanted


def test_other_numbers_are_no_fractions() -> None:
    with ctx.workprec(200):
        for x in (arb.pi(), arb(2).exp(), arb(3).log(), arb("1e-30")):
            assert _fraction(x) is None


@pytest.mark.parametrize("text", ["3/7", "0", "L", "2*L**2", "-3*M/(2*L)", "sqrt(3)*M**2/5"])
def test_fractions_times_powers_of_lengths(text: str) -> None:
    """L and M are numbers of which no fraction is a power or a product."""
    wanted = sp.sympify(text)
    with ctx.workprec(200):
        sizes = {"L": arb.pi() / 10, "M": arb(1).exp() / 3}
        balls = SimpleNamespace(balls=lambda length: sizes[str(length)])
        found = SimpleNamespace(null=SimpleNamespace(geometry=balls))
        exact = {"L": sp.pi / 10, "M": sp.E / 3}
        x = arb(str(sp.N(wanted.subs(exact), 60)))
        form = exact_form(x, dict.fromkeys(sizes, 1.0), found)  # type: ignore[arg-type]
        assert form is not None
        assert sp.sympify(str(form)).equals(wanted)
        assert exact_form(arb(2).log(), dict.fromkeys(sizes, 1.0), found) is None  # type: ignore[arg-type]


def test_arithmetic_of_fractions() -> None:
    """Elements, and their values at the numbers of the model and at others, are those of SymPy."""
    L, M = sp.symbols("L M", positive=True)
    values = {L: sp.Rational(3, 10), M: sp.Rational(7, 5)}
    geometry = SimpleNamespace(balls=Balls(values), values=values)
    a, b = sp.sqrt(3) * L / (M + 2), 1 + L**2 / 4
    with ctx.workprec(200):
        field = FractionField([a, b], geometry)  # type: ignore[arg-type]
        x, y = field(a), field(b)
        for made, wanted in zip((x - y, x * y, x / y, -x), (a - b, a * b, a / b, -a), strict=True):
            right = field(wanted)
            assert made.element == right.element
            for own, other in ((made.here, right.here), (made.anywhere, right.anywhere)):
                assert abs(float((own - other).mid())) < 1e-50
            assert float(made.here.mid()) == pytest.approx(float(wanted.subs(values)), rel=1e-14)
        assert (x - x).vanishes
        assert not (x - y).vanishes


def test_cross_products_of_balls() -> None:
    found = cross([arb(1), arb(2), arb(3)], [arb(5), arb(7), arb(11)])
    assert [float(x.mid()) for x in found] == [1.0, 4.0, -3.0]
