"""Families: closed forms against finite differences, linearity, ends, periods."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.excitation.families import (
    BSpline,
    Chirp,
    Constant,
    Family,
    Fourier,
    Function,
    Scaled,
    Sine,
    Sum,
    Tabulated,
)
from mechid.excitation.families.family import common_period
from mechid.excitation.trajectory import _check_span

RNG = np.random.default_rng(3)
T = 2.0
TIMES = np.linspace(0.05, T - 0.05, 37)


def numbers(n: int) -> tuple[float, ...]:
    return tuple(RNG.normal(size=n).tolist())


def table(given: bool) -> Tabulated:
    t = np.linspace(0.0, T, 41)
    y, yd, ydd = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    rates = (tuple(yd.tolist()), tuple(ydd.tolist())) if given else ((), ())
    return Tabulated(tuple(t.tolist()), tuple(y.tolist()), *rates)


FAMILIES: dict[str, Family] = {
    "fourier": Fourier(0.5, 0.3, numbers(4), numbers(4)),
    "offset only": Fourier(0.5, 0.3, (), ()),
    "periodic spline": BSpline(T, numbers(9)),
    "cubic spline": BSpline(T, numbers(7), 3),
    "spline at rest": BSpline(T, numbers(6), 5, "rest"),
    "free spline": BSpline(T, numbers(8), 4, "free"),
    "sine": Sine(50.0, 0.25, 0.3, 0.1),
    "chirp": Chirp(0.02, 0.0, 5.0, T, 0.2, 0.1),
    "constant": Constant(0.7),
    "scaled": Scaled(Sine(1.0, 2.0), 0.3),
    "sum": Sum((Fourier(1.0, 0.1, numbers(2), numbers(2)), Scaled(Sine(1.0, 3.0)), Constant(1.0))),
    "function": Function(lambda t: (t**3, 3 * t**2, 6 * t)),
    "table": table(False),
    "table with rates": table(True),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_rates_are_the_derivatives(name: str) -> None:
    family, h = FAMILIES[name], 1e-4
    before, now, after = (family.rates(TIMES + d) for d in (-h, 0.0, h))
    for k in range(2):
        # Third derivatives of these signals are some thousand times the first at most.
        difference = (after[k] - before[k]) / (2 * h)
        size = np.abs(now[k + 1]).max() + np.abs(now[k]).max()
        np.testing.assert_allclose(difference, now[k + 1], rtol=0, atol=2e-5 * size)


@pytest.mark.parametrize("name", FAMILIES)
def test_motion_is_given_part_plus_basis_times_coefficients(name: str) -> None:
    family = FAMILIES[name]
    c = RNG.normal(size=family.coefficients.size)
    other = family.with_coefficients(c)
    np.testing.assert_array_equal(other.coefficients, c)
    pairs = zip(other.rates(TIMES), family.given(TIMES), family.basis(TIMES), strict=True)
    for rate, given, B in pairs:
        assert B.shape == (len(TIMES), c.size)
        np.testing.assert_allclose(rate, given + B @ c, rtol=1e-13, atol=1e-13)


def test_fourier_has_the_form_of_the_literature() -> None:
    f, A0, a, b = 0.4, 0.2, (0.5, -0.1), (0.3, 0.7)
    w = 2 * np.pi * f
    y = A0 + sum(
        a[j - 1] / (w * j) * np.sin(w * j * TIMES) - b[j - 1] / (w * j) * np.cos(w * j * TIMES)
        for j in (1, 2)
    )
    yd = sum(a[j - 1] * np.cos(w * j * TIMES) + b[j - 1] * np.sin(w * j * TIMES) for j in (1, 2))
    found = Fourier(f, A0, a, b).rates(TIMES)
    np.testing.assert_allclose(found.position, y, rtol=1e-13)
    np.testing.assert_allclose(found.speed, yd, rtol=1e-12, atol=1e-14)


def test_wheels_of_the_literature() -> None:
    f = 0.8
    found = Sine(50.0, f / 2).rates(TIMES)
    np.testing.assert_allclose(found.position, 50 * np.sin(np.pi * f * TIMES), rtol=1e-13)


@pytest.mark.parametrize("name", ["fourier", "periodic spline", "cubic spline", "sine", "scaled"])
def test_periodic_families_repeat(name: str) -> None:
    family = FAMILIES[name]
    assert family.period
    for a, b in zip(family.rates(TIMES), family.rates(TIMES + family.period), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(a).max())


def test_periodic_spline_is_smooth_across_its_seam() -> None:
    spline = FAMILIES["periodic spline"]
    for before, after in zip(
        *(spline.rates(np.array([T + d])) for d in (-1e-9, 1e-9)), strict=True
    ):
        assert before == pytest.approx(after, abs=1e-5)


def test_spline_at_rest_stands_still_at_both_ends() -> None:
    found = FAMILIES["spline at rest"].rates(np.array([0.0, T]))
    c = FAMILIES["spline at rest"].coefficients
    np.testing.assert_allclose(found.position, c[[0, -1]], rtol=1e-15)
    np.testing.assert_array_equal(found.speed, 0.0)
    np.testing.assert_array_equal(found.acceleration, 0.0)


@pytest.mark.parametrize("ends", ["periodic", "free", "rest"])
def test_equal_control_values_stand_still(ends: str) -> None:
    spline = BSpline(T, (0.4,) * 8, 5, ends)  # type: ignore[arg-type]
    found = spline.rates(TIMES)
    np.testing.assert_allclose(found.position, 0.4, rtol=1e-14)
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-11)


def test_chirp_sweeps_its_frequencies() -> None:
    chirp = Chirp(0.02, 0.0, 50.0, 10.0, phase=0.3)
    t = np.linspace(0.0, 10.0, 1001)
    y, yd, _ = chirp.rates(t)
    # On an ellipse of half axes A and A ω.
    w = 2 * np.pi * 5.0 * t
    np.testing.assert_allclose((w * y) ** 2 + yd**2, (0.02 * w) ** 2, rtol=1e-9, atol=1e-15)


def test_table_passes_through_its_samples() -> None:
    for given in (False, True):
        made = table(given)
        t = np.array(made.time)
        found = made.rates(t)
        np.testing.assert_allclose(found.position, np.sin(3 * t), atol=1e-14)
        np.testing.assert_allclose(found.speed, 3 * np.cos(3 * t), atol=1e-13 if given else 5e-5)
        np.testing.assert_allclose(
            found.acceleration, -9 * np.sin(3 * t), atol=1e-11 if given else 5e-3
        )


def test_periodic_table_is_smooth_across_its_seam() -> None:
    t = np.linspace(0.0, 1.0, 31)
    y = np.sin(2 * np.pi * t)
    y[-1] = y[0]
    made = Tabulated(tuple(t.tolist()), tuple(y.tolist()), periodic=True)
    x = np.linspace(0.9, 1.3, 50)
    assert made.rates(x).acceleration == pytest.approx(
        -((2 * np.pi) ** 2) * np.sin(2 * np.pi * x), abs=2e-3
    )


def test_common_period() -> None:
    assert common_period([2.0, 3.0]) == pytest.approx(6.0)
    assert common_period([1 / 0.3, 0.0, 1 / 0.6]) == pytest.approx(1 / 0.3)
    assert common_period([1.0, np.pi]) is None
    assert common_period([1.0, None]) is None
    assert common_period([0.0]) == 0.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Fourier(0.0, 0.0, (), ()), "base frequency"),
        (lambda: Fourier(1.0, 0.0, (1.0,), ()), "must have the same length, got 1 and 0"),
        (lambda: BSpline(1.0, (1.0,) * 5), "needs 6 values"),
        (lambda: BSpline(1.0, (1.0,), 5, "rest"), "needs 2 values"),
        (lambda: BSpline(1.0, (1.0,) * 3, 7, "rest"), "needs 4 values"),
        (lambda: BSpline(1.0, (1.0,) * 9, 2), "jumps"),
        (lambda: BSpline(1.0, (1.0,) * 9, 5, "open"), "unknown ends"),  # type: ignore[arg-type]
        (lambda: Chirp(1.0, 0.0, 50.0, 0.0), "length of a chirp"),
        (lambda: Scaled(Fourier.zeros(1.0, 2)), "cannot have a designed factor"),
        (lambda: Sum(()), "at least one term"),
        (lambda: Tabulated((0.0, 1.0), (1.0,)), "must have the length of time, 2, got 1, 0, 0"),
        (lambda: Tabulated((0.0, 0.0), (1.0, 2.0)), "does not increase"),
        (lambda: Tabulated((0.0, 1.0), (1.0, np.nan)), "must be finite"),
        (
            lambda: Tabulated((0.0, 1.0), (1.0, 2.0), (0.0, 0.0), (0.0, 0.0), True),
            "first and last sample of a periodic table",
        ),
        (lambda: Function(lambda t: (t, t)).rates(TIMES), "must return 3 arrays, got 2"),  # type: ignore[arg-type,return-value]
    ],
)
def test_what_is_no_family_is_refused(make: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        make()  # type: ignore[operator]


def test_tables_of_few_samples_and_of_uneven_times() -> None:
    """Polynomials through all samples: of degree two through three, of five through eight."""
    for n, degree in ((2, 1), (3, 2), (6, 5), (9, 5)):
        t = 0.5 + 2.0 * np.linspace(0.0, 1.0, n) ** 1.2
        p = np.polynomial.Polynomial(np.arange(1.0, degree + 2))
        made = Tabulated(tuple(t.tolist()), tuple(p(t).tolist()))
        x = np.linspace(0.5, 2.5, 7)
        found = made.rates(x)
        for rate, wanted in zip(found, (p(x), p.deriv()(x), p.deriv(2)(x)), strict=True):
            np.testing.assert_allclose(rate, wanted, rtol=1e-7, atol=1e-6)
        # It stays where it begins and ends.
        outside = made.rates(np.array([-3.0, 9.0])).position
        np.testing.assert_allclose(outside, p(t[[0, -1]]), rtol=1e-9)
        assert made.period is None
        assert made.span == (t[0], t[-1])
        assert made.band == pytest.approx((n - 1) / 4.0)


def test_periodic_tables_with_rates() -> None:
    """From 0.25 s to 1.25 s; speeds and accelerations are met in all periods."""
    t = np.linspace(0.25, 1.25, 21)
    w = 2 * np.pi
    y, yd, ydd = np.cos(w * t), -w * np.sin(w * t), -(w**2) * np.cos(w * t)
    for x in (y, yd, ydd):
        x[-1] = x[0]
    made = Tabulated(*(tuple(x.tolist()) for x in (t, y, yd, ydd)), periodic=True)
    assert made.period == pytest.approx(1.0)
    assert made.span == (-np.inf, np.inf)
    for shift in (-2.0, 0.0, 3.0):
        found = made.rates(t[:-1] + shift)
        np.testing.assert_allclose(found.position, y[:-1], atol=1e-9)
        np.testing.assert_allclose(found.speed, yd[:-1], atol=1e-7)
        np.testing.assert_allclose(found.acceleration, ydd[:-1], atol=1e-5)
    with pytest.raises(DataError, match="6 positions are too few for a periodic spline"):
        Tabulated(tuple(range(6)), (0.0, 1.0, 2.0, 1.0, 0.5, 0.0), periodic=True)
    seven = Tabulated(tuple(range(7)), (0.0, 1.0, 2.0, 1.0, 0.5, 0.2, 0.0), periodic=True)
    assert seven.period == 6.0


def test_where_and_how_fast_families_are_defined() -> None:
    fast, slow = Chirp(1.0, 0.5, -3.0, 4.0), Fourier.zeros(0.5, 4)
    assert fast.span == (0.0, 4.0)
    assert fast.band == 3.0
    both = Sum((fast, slow))
    assert both.span == (0.0, 4.0)
    assert both.band == 3.0
    assert both.period is None
    assert Sum((slow, Fourier.zeros(0.75, 9))).period == pytest.approx(4.0)
    assert Scaled(fast).span == (0.0, 4.0)
    assert Scaled(fast).band == 3.0
    assert Scaled(fast).period is None
    for ends, span, period in (("periodic", (-np.inf, np.inf), 3.0), ("free", (0.0, 3.0), None)):
        spline = BSpline(3.0, (0.0,) * 12, ends=ends)  # type: ignore[arg-type]
        assert spline.span == span
        assert spline.period == period
        assert spline.band == 2.0


@pytest.mark.parametrize(("degree", "number"), [(3, 2), (5, 2), (6, 3), (7, 4)])
def test_numbers_of_control_values(degree: int, number: int) -> None:
    BSpline.zeros(1.0, number, degree, "rest")
    for ends in ("periodic", "free"):
        BSpline.zeros(1.0, degree + 1, degree, ends)  # type: ignore[arg-type]
        with pytest.raises(DataError, match=f"needs {degree + 1} values, got {degree}"):
            BSpline.zeros(1.0, degree, degree, ends)  # type: ignore[arg-type]
    for length in (0.0, -1.0, np.inf):
        with pytest.raises(DataError, match="the length of a spline must be > 0 s"):
            BSpline.zeros(length, 9)


def test_free_splines_are_polynomials_where_control_values_are_even() -> None:
    """Greville's abscissae as control values make a straight line."""
    degree, inner = 5, 4
    knots = np.concatenate([np.zeros(5), np.arange(inner + 1.0), np.full(5, float(inner))])
    greville = [float(np.mean(knots[k + 1 : k + 1 + degree])) for k in range(inner + degree)]
    spline = BSpline(2.0, tuple(greville), degree, "free")
    t = np.linspace(0.0, 2.0, 9)
    found = spline.rates(t)
    np.testing.assert_allclose(found.position, inner / 2.0 * t, atol=1e-12)
    np.testing.assert_allclose(found.speed, inner / 2.0, atol=1e-11)
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-10)


def test_common_periods_have_a_bound() -> None:
    """Up to a thousand of the longest, whole to nine digits."""
    assert common_period([1.0, 1.0 - 1e-11]) == 1.0
    assert common_period([1.0, 1.0 - 1e-8]) is None
    assert common_period([1.0, 1000.0 / 1001.0]) == pytest.approx(1000.0)
    assert common_period([1.0, 1001.0 / 1002.0]) is None
    assert common_period([]) == 0.0


def test_rounding_at_the_ends_of_a_span() -> None:
    """Times may lie outside by 1e-9 of the duration, not of the time."""
    late = Tabulated((100.0, 102.0, 104.0), (0.0, 1.0, 0.0))
    _check_span("q", late, np.array([100.0 - 3e-9, 104.0 + 3e-9]))
    for t in (100.0 - 9e-9, 104.0 + 9e-9):
        with pytest.raises(DataError, match=r"q is not defined at t = .* only from 100 s to 104 s"):
            _check_span("q", late, np.array([t]))
