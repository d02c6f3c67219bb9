"""Numbers, formulas and thinned series."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from mechid.report.numbers import number, percent, relative
from mechid.report.page import formula, terms
from mechid.report.plot import shown_samples


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-1.5, "−1.500"),
        (123456.7, "123457"),
        (1234567.0, "1.235·10⁶"),
        (0.00012345, "0.0001234"),
        (-1.2e-12, "−1.200·10⁻¹²"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (None, "–"),
    ],
)
def test_numbers(value, shown):
    assert number(value) == shown


def test_percent():
    assert percent(0.01234) == "1.23 %"
    assert percent(None) == "–"


@given(st.floats(1e-30, 1e30), st.booleans())
def test_a_number_keeps_its_digits(size, negative):
    value = -size if negative else size
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
    shown = number(value).translate(digits).replace("·10", "e")
    assert float(shown) == pytest.approx(value, rel=6e-4)


def test_terms_are_split_outside_of_brackets():
    text = r"m_{1} - \frac{a + b}{c} + (1 - \frac{2}{l_{7}}) m_{5}"
    assert terms(text) == ["m_{1}", r"- \frac{a + b}{c}", r"+ (1 - \frac{2}{l_{7}}) m_{5}"]
    assert terms("- m_{1} + m_{2}") == ["- m_{1}", "+ m_{2}"]


def test_names_of_several_letters_are_one_name():
    made = formula(r"mx_{1} - \frac{DKx DKz}{Ds_{2}^{2}} k_{\mathrm{strut\_r}}")
    names = [mi.text for mi in etree.fromstring(f"<p>{made}</p>").iter("mi")]
    assert names == ["mx", "DKx", "DKz", "Ds", "k", "strut_r"]


def test_functions_and_roots():
    made = formula(r"\frac{\sqrt{3} \sin{\left(\alpha \right)} m_{2}}{2} + 1.2 \cdot 10^{-5} m_{3}")
    tree = etree.fromstring(f"<p>{made}</p>")
    assert [mi.text for mi in tree.iter("mi")] == ["sin", "α", "m", "m"]
    assert [mn.text for mn in tree.iter("mn")] == ["3", "2", "2", "1.2", "10", "5", "3"]
    assert len(tree.findall(".//msqrt")) == 1


def test_short_series_are_whole():
    np.testing.assert_array_equal(shown_samples([np.arange(5.0)], 10), np.arange(5))


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_no_peak_is_lost(seed, courses):
    rng = np.random.default_rng(seed)
    n, most = 5000, 400
    data = [rng.normal(size=n) for _ in range(courses)]
    data[0][rng.integers(n, size=50)] = np.nan
    taken = shown_samples(data, most)
    assert len(taken) <= most + 2
    assert np.all(np.diff(taken) > 0)
    assert (taken[0], taken[-1]) == (0, n - 1)
    for course in data:
        assert {int(np.nanargmin(course)), int(np.nanargmax(course))} <= set(taken.tolist())
        # Within each stretch, not only in all: no sample sticks out of its shown neighbours by
        # more than the stretch they stand for.
        stretches = most // (2 * courses)
        edges = np.linspace(0, n, stretches + 1).astype(int)
        low = np.fmin.reduceat(course, edges[:-1])
        inside = [taken[(taken >= a) & (taken < b)] for a, b in pairwise(edges)]
        shown = np.array([np.nanmin(course[part]) for part in inside])
        np.testing.assert_array_equal(shown, low)


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (3.0021, "3.00"), (1000.0, "1000"), (9e13, "> 1000"),
                         (np.inf, "> 1000")]
)  # fmt: skip
def test_relative_standard_deviations(value, shown):
    assert relative(value) == shown
