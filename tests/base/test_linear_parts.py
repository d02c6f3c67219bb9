"""Linear algebra behind base sets, with small matrices that are written out."""

from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, arb_mat, ctx

from mechid.base import count
from mechid.base.baseset import base_set, change
from mechid.base.choose import _reasons, as_listed, first, last
from mechid.base.count import count_bases, count_choices, ranked, sample_choices
from mechid.base.exchange import Tableau, _cheapest, _gain, _pivot, condition_number, tableau
from mechid.base.expressions import latex_name, short, text
from mechid.base.matroid import INDEPENDENT, Block, Growing, Matroid, _connected, circuit, greedy
from mechid.base.numeric import factorise, null_basis, numeric_base
from mechid.base.partition import dependent_rows, regrouping
from mechid.base.rules import rule_of
from mechid.base.spaces import contains, left_null, rank, reduced
from mechid.base.sparse import SparseBasis, eliminate, sparse_basis
from mechid.base.spectrum import Reading
from mechid.errors import DataError, MechidError
from mechid.modelfile import load

from .cases import null_of, stacked

Array = np.ndarray


def balls(rows: list[list[float]]) -> list[list[arb]]:
    return [[arb(x) for x in row] for row in rows]


def floats(rows: list[list[arb]]) -> Array:
    return np.array([[float(x.mid()) for x in row] for row in rows])


# ----------------------------------------------------------------------------------- spectra


def reading(**changed: Any) -> Reading:
    values: dict[str, Any] = {
        "rank": 2, "spectrum": np.ones(3), "kept": 1e-3, "dropped": 1e-14, "rounding": 1e-15,
        "tolerance": 1e-13, "largest_step": 2,
    }  # fmt: skip
    return Reading(**values | changed)


def test_gap_and_strength_of_a_reading() -> None:
    assert reading().gap == pytest.approx(1e11)
    assert reading().strength == pytest.approx(1e11)
    assert reading(dropped=0.0).gap == pytest.approx(1e12)  # against rounding
    # What is dropped lies far below rounding: rounding is what counts.
    assert reading(dropped=1e-20).gap == pytest.approx(1e17)
    assert reading(dropped=1e-20).strength == pytest.approx(1e12)
    assert reading(dropped=0.0, rounding=0.0).gap == np.inf
    assert reading(rounding=0.0).strength == pytest.approx(1e11)


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "clear"),
        ({"kept": 1.001e-11}, "clear"),  # a thousand times what is dropped
        ({"kept": 0.999e-11}, "weak"),
        ({"largest_step": 1}, "weak"),
        ({"dropped": 1.0e-13, "kept": 1.0}, "clear"),  # a hundred times rounding explains it
        ({"dropped": 1.01e-13, "kept": 1.0}, "ambiguous"),
        ({"kept": 1.001e-13}, "weak"),  # ten times
        ({"kept": 0.999e-13}, "ambiguous"),
    ],
)
def test_bounds_of_verdicts(changed: dict[str, float], verdict: str) -> None:
    assert reading(**changed).verdict == verdict


def test_words_of_a_reading() -> None:
    assert reading().words == (
        "rank 2 is clear: smallest kept 1.0e-03, largest dropped 1.0e-14 (ratio 1.0e+11); rounding "
        "leaves about 1.0e-15; the largest step is at 2"
    )


# --------------------------------------------------------------------- dependent rows, regrouping


@pytest.mark.parametrize("choice", ["pivot", "first", "last"])
def test_regrouping_keeps_the_product(choice: Any) -> None:
    rng = np.random.default_rng(1)
    W = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 7))
    Z = np.linalg.svd(W)[2][4:].T
    dependent = dependent_rows(Z, choice)
    base = [i for i in range(7) if i not in dependent]
    np.testing.assert_allclose(W[:, base] @ regrouping(Z, dependent), W[:, dependent], atol=1e-12)
    assert dependent == {"first": [0, 1, 2], "last": [4, 5, 6]}.get(choice, dependent)


def test_rows_are_taken_as_long_as_they_are_new() -> None:
    Z = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    assert dependent_rows(Z, "first") == [0, 3]
    assert dependent_rows(Z, "last") == [3, 4]
    assert dependent_rows(np.zeros((3, 0)), "first") == []
    assert regrouping(np.zeros((3, 0)), []).shape == (3, 0)
    small = np.array([[1.0, 0.0], [1.0, 1e-4], [0.0, 1.0]])
    assert dependent_rows(small, "first") == [0, 1]  # 1e-4 is above the bound of 1e-6


@pytest.mark.parametrize(
    ("method", "precision"), list(product(("svd", "qr"), ("single", "double")))
)
def test_numeric_base_of_a_matrix_with_known_dependencies(method: Any, precision: Any) -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 3)) * [1.0, 20.0, 0.3]
    W = np.column_stack([A, 2 * A[:, 0] - 0.5 * A[:, 1], np.zeros(50), 4 * A[:, 2]])
    names = ["a", "b", "c", "d", "e", "f"]
    found = numeric_base(W, names, method=method, precision=precision, choice="last")
    assert found.rank == 3
    assert found.without_effect == ("e",)
    assert found.base == ("a", "b", "c")
    assert found.dependent == ("d", "f")
    exact = 1e-5 if precision == "single" else 1e-12
    np.testing.assert_allclose(found.beta, [[2, 0], [-0.5, 0], [0, 4]], atol=20 * exact)
    assert (found.method, found.precision) == (method, precision)
    # Lengths of columns, relative to the largest.
    lengths = np.linalg.norm(W, axis=0)
    np.testing.assert_allclose(found.effect, lengths / lengths.max(), rtol=1e-6)
    assert found.confidence == "clear"
    assert found.gap == found.reading.gap
    assert found.spectrum is found.reading.spectrum


def test_columns_of_rounding_at_the_bound() -> None:
    eps = 2.0**-52
    W = np.eye(3) * [1.0, 65 * eps, 63 * eps]
    assert numeric_base(W, ["a", "b", "c"]).without_effect == ("c",)
    # Compared with what they would be without cancellation.
    scale = np.array([1.0, 1.0, eps])
    assert numeric_base(W, ["a", "b", "c"], scale=scale).without_effect == ()
    assert numeric_base(W, ["a", "b", "c"], scale=np.array([0.0, 1.0, eps])).rank == 3


def test_tolerance_of_a_rank() -> None:
    W = np.array([[1.0, 1.0], [0.0, 0.1]])
    s = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
    bound = s[1] / s[0]
    assert numeric_base(W, ["a", "b"], tolerance=0.99 * bound).rank == 2
    assert numeric_base(W, ["a", "b"], tolerance=1.01 * bound).rank == 1


# ------------------------------------------------------------------------------- rows of balls


def test_reduced_rows() -> None:
    rows = balls([[0, 2, 4, 2], [1, 1, 1, 1], [1, 3, 5, 3]])
    np.testing.assert_allclose(floats(reduced(rows, 1e-9)), [[1, 0, -1, 0], [0, 1, 2, 1]])
    assert rank(rows, 1e-9) == 2
    assert rank([], 1e-9) == 0
    (left,) = left_null(rows, 1e-9)
    x = floats([left])[0]
    np.testing.assert_allclose(x @ floats(rows), 0.0, atol=1e-12)
    assert np.abs(x).max() > 0.1
    assert left_null([], 1e-9) == []
    assert len(left_null(balls([[0.0, 0.0]]), 1e-9)) == 1


def test_what_a_reduced_basis_contains() -> None:
    basis = reduced(balls([[1, 0, 2], [0, 1, -1]]), 1e-9)
    assert contains(basis, balls([[3, 2, 4]])[0], 1e-9)
    assert not contains(basis, balls([[3, 2, 4.001]])[0], 1e-9)
    assert contains(basis, balls([[3, 2, 4.001]])[0], 1e-2)
    assert contains([], balls([[0, 0, 0]])[0], 1e-9)


def test_tolerance_of_pivots() -> None:
    assert rank(balls([[1.0, 1.0], [1.0, 1.0 + 1e-6]]), 1e-7) == 2
    assert rank(balls([[1.0, 1.0], [1.0, 1.0 + 1e-6]]), 1e-5) == 1


def test_factors_in_many_digits() -> None:
    rng = np.random.default_rng(2)
    A = rng.integers(-3, 4, (8, 3)).astype(float)
    W = np.column_stack([A, A[:, 0] + A[:, 1], 5 * A[:, 2]])
    with ctx.workprec(300):
        found = factorise(arb_mat(W.tolist()))
        assert sorted(found.order) == list(range(5))
        R = floats(found.R.tolist())
        # RᵀR is WᵀW in the order of the pivots, the largest first.
        gram = W[:, found.order].T @ W[:, found.order]
        np.testing.assert_allclose(R.T @ R, gram, atol=1e-9)
        assert found.order[0] == int(np.argmax(np.linalg.norm(W, axis=0)))
        assert np.all(np.abs(found.diagonal[3:]) < 1e-40)
        np.testing.assert_allclose(found.diagonal[:3], np.diag(R)[:3])
        Z = null_basis(found, 3)
    assert Z.shape == (5, 2)
    np.testing.assert_allclose(W @ Z, 0.0, atol=1e-12)
    assert np.linalg.matrix_rank(Z) == 2
    with ctx.workprec(300):
        np.testing.assert_array_equal(np.abs(null_basis(found, 0)).sum(axis=0), 1.0)
        assert null_basis(found, 5).shape == (5, 0)


# --------------------------------------------------------------------------- sparse elimination


def test_sparse_basis_by_hand() -> None:
    basis = SparseBasis()
    assert basis.add({"a": 3.0, "b": 6.0}, 1e-9)
    assert basis.vectors == [("b", {"a": 0.5, "b": 1.0})]
    assert basis.left_over({"a": 1.0, "b": 2.0, "c": 4.0}) == {"c": 4.0}
    assert not basis.add({"a": 1.0, "b": 2.0}, 1e-9)
    assert basis.add({"a": 1.0, "b": 2.0, "c": 1e-6}, 1e-9)
    assert not basis.add({"a": 1.0, "b": 2.0, "d": 1e-10}, 1e-9)
    assert not basis.add({}, 1e-9)
    assert basis.rank == 2
    assert basis.contains({"c": 1.0}, 1e-9)
    assert not basis.contains({"a": 1.0}, 1e-9)
    assert basis.contains({"d": 1e-9}, 1e-9)  # at the bound
    # Those with few entries come first.
    found = sparse_basis([{"a": 1.0, "b": 1.0, "c": 1.0}, {"c": 1.0}, {"a": 1.0, "b": 1.0}], 1e-9)
    assert [place for place, _ in found.vectors] == ["c", "a"]


def test_chains_of_reductions() -> None:
    """Each vector brings in the pivot of the next."""
    basis = SparseBasis()
    for k in range(5):
        assert basis.add({k: 2.0, k + 1: 1.0}, 1e-9)
    # e0 = -e1/2 = e2/4 …, so that 32 e0 + e5 is in the span.
    assert basis.left_over({0: 32.0}) == {5: -1.0}
    assert basis.contains({0: 32.0, 5: 1.0}, 1e-9)


def test_elimination_is_that_of_the_inverse() -> None:
    rng = np.random.default_rng(3)
    N = rng.integers(-2, 3, (6, 3)).astype(float)
    N[:3] += 5 * np.eye(3)
    names = [f"p{i}" for i in range(6)]
    columns = [{n: x for n, x in zip(names, c, strict=True) if x} for c in N.T.tolist()]
    found = eliminate(columns, names[:3], abs, lambda x: abs(x) < 1e-12)
    wanted = N @ np.linalg.inv(N[:3])
    for k, name in enumerate(names[:3]):
        got = np.array([found[name].get(n, 0.0) for n in names])
        np.testing.assert_allclose(got, wanted[:, k], atol=1e-12)
    with pytest.raises(ZeroDivisionError, match="b"):
        eliminate([{"a": 1.0}, {"a": 2.0}], ["a", "b"], abs, lambda x: x == 0)


# -------------------------------------------------------------------------- exchanges and costs


def test_an_exchange_solves_for_the_other_parameter() -> None:
    """x = φ_b + β φ_d: solved for φ_dj, its row and column change places."""
    rng = np.random.default_rng(4)
    beta = rng.standard_normal((3, 2))
    # Columns of W of all five: W_d = W_b β; with another base the same W.
    Wb = rng.standard_normal((9, 3))
    W = dict(zip("abcde", np.column_stack([Wb, Wb @ beta]).T, strict=True))
    old = Tableau(("a", "b", "c"), ("d", "e"), beta)
    new = old.exchanged(1, 0)
    assert (new.base, new.dependent) == (("a", "d", "c"), ("b", "e"))
    stack = {names: np.column_stack([W[n] for n in names]) for names in (new.base, new.dependent)}
    np.testing.assert_allclose(stack[new.base] @ new.beta, stack[new.dependent], atol=1e-12)
    back = new.exchanged(1, 0)
    np.testing.assert_allclose(back.beta, beta)
    assert (back.base, back.dependent) == (old.base, old.dependent)


def test_parts_of_a_tableau() -> None:
    whole = Tableau(("a", "b"), ("c", "d"), np.array([[1.0, 2.0], [3.0, 4.0]]))
    part = whole.part({"b", "c", "d"})
    assert (part.base, part.dependent) == (("b",), ("c", "d"))
    np.testing.assert_array_equal(part.beta, [[3.0, 4.0]])
    base, dependent = whole.among({"a", "d"})
    assert (base.tolist(), dependent.tolist()) == ([True, False], [False, True])


def test_gain_is_the_difference_of_the_costs() -> None:
    rng = np.random.default_rng(5)
    beta = np.where(rng.random((5, 4)) < 0.6, rng.integers(-3, 4, (5, 4)), 0).astype(float)
    base, dependent = rng.random(5) < 0.5, rng.random(4) < 0.5

    def cost(x: Array, inside: Array) -> Array:
        return np.asarray(np.sign(x) * (1 + 2 * inside) * (1 + np.log1p(x)))

    def total(b: Array, rows: Array, columns: Array) -> float:
        return float(np.sum(cost(np.abs(b), np.outer(rows, columns))))

    for i, j in np.argwhere(beta != 0):
        rows, columns = base.copy(), dependent.copy()
        rows[i], columns[j] = dependent[j], base[i]
        wanted = total(beta, base, dependent) - total(_pivot(beta, i, j), rows, columns)
        assert _gain(beta, base, dependent, cost, int(i), int(j)) == pytest.approx(wanted)


def test_exchanges_stop_where_none_helps() -> None:
    rng = np.random.default_rng(6)
    beta = np.where(rng.random((4, 4)) < 0.7, rng.integers(-2, 3, (4, 4)), 0).astype(float)
    start = Tableau(tuple("abcd"), tuple("efgh"), beta)

    def terms(x: Array, _: Array) -> Array:
        return np.asarray(np.sign(x))

    found, cost = _cheapest(start, set(), terms)
    assert cost == np.count_nonzero(np.abs(found.beta) > 1e-9) <= np.count_nonzero(beta)
    for i, j in np.argwhere(np.abs(found.beta) > 1e-9):
        other = found.exchanged(int(i), int(j))
        assert np.count_nonzero(np.abs(other.beta) > 1e-9) >= cost


# ------------------------------------------------------------------------------------ matroids


def test_rows_grow_as_long_as_they_are_independent() -> None:
    growing = Growing(2)
    assert not growing.add(np.zeros(2))
    assert growing.add(np.array([3.0, 4.0]))
    assert not growing.add(np.array([6.0, 8.0]))
    np.testing.assert_allclose(growing.left(np.array([5.0, 0.0])), [5 - 1.8, -2.4])
    assert not growing.complete
    assert not growing.add(np.array([0.6, 0.8]) + 0.9 * INDEPENDENT * np.array([-0.8, 0.6]))
    assert growing.add(np.array([0.6, 0.8]) + 1.1 * INDEPENDENT * np.array([-0.8, 0.6]))
    assert growing.complete
    assert not growing.add(np.array([1.0, 0.0]))


def block(names: str, rows: list[list[float]]) -> Block:
    return Block(tuple(names), np.array(rows), np.ones(len(rows)))


def test_greedy_takes_what_comes_first() -> None:
    m = Matroid(
        tuple("abcdef"),
        (block("acd", [[1, 0], [1, 0], [0, 1]]), block("be", [[1.0], [1.0]])),
    )
    assert m.rank == 3
    assert greedy(m, "") == ("a", "b", "d")
    assert greedy(m, "ec") == ("c", "d", "e")
    assert greedy(m, "fdcba") == ("b", "c", "d")


def test_relation_between_rows() -> None:
    b = block("abcd", [[1, 0], [0, 1], [3, -2], [0, 5]])
    assert circuit(b, ["a", "b"], "c") == pytest.approx({"a": 3.0, "b": -2.0})
    assert circuit(b, ["a", "b"], "d") == pytest.approx({"b": 5.0})


def test_connected_parts_of_a_matrix() -> None:
    N = np.zeros((6, 4))
    N[[0, 3], 0] = 1
    N[[3, 5], 2] = -2
    N[1, 1] = 1
    assert sorted(_connected(N)) == [([0, 3, 5], [0, 2]), ([1], [1])]


def test_reasons_of_a_refusal() -> None:
    many = {f"p{k}": 1.0 for k in range(7)}
    few = {f"p{k}": 1.0 for k in range(6)}
    assert _reasons([("x", {}), ("y", few), ("z", {})]) == (
        "no other parameter can replace x, z; y depends on p0, p1, p2, p3, p4, p5"
    )
    assert _reasons([("y", many)]).endswith("p5, …")


# ---------------------------------------------------------------------- base sets of a mechanism


def test_rows_matrices_and_changes_of_base_sets() -> None:
    null = null_of("four_bar")
    a, b = base_set(null, first(null)), base_set(null, last(null))
    phi = np.random.default_rng(0).standard_normal(len(null.names))
    phi[[i for i, n in enumerate(null.names) if n in null.zeros]] = 0.0
    np.testing.assert_allclose(change(a, b) @ a.values(phi), b.values(phi), atol=1e-10)
    for name in a.base:
        row = a.row(name)
        assert row[name] == 1.0
        held = sum(x * phi[null.names.index(n)] for n, x in row.items())
        assert held == pytest.approx(a.values(phi)[a.base.index(name)])
    assert a.n_terms == sum(len(a.row(name)) for name in a.base)
    with pytest.raises(MechidError, match=f"{a.dependent[0]} is not a base parameter"):
        a.row(a.dependent[0])
    W = np.arange(2.0 * len(null.names)).reshape(2, -1)
    np.testing.assert_array_equal(a.observation(W), W[:, a.places])


def test_ranked_base_sets_and_when_they_stop() -> None:
    null, W = null_of("four_bar"), stacked("four_bar")
    choices = sample_choices(null, 6)
    found = ranked(null, choices, W)
    assert len(found) == len(choices)
    for x in found:
        A = x.base_set.observation(W.reshape(-1, W.shape[-1]))
        A = A / np.linalg.norm(A, axis=0)
        assert x.condition == pytest.approx(np.linalg.cond(A), rel=1e-6)
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) >= 3

    assert len(ranked(null, choices, W, stop)) == 2
    assert len(ranked(null, choices, W, lambda: True)) == 1  # never none
    assert sample_choices(null, 5, stop=lambda: True) == []
    assert len(sample_choices(null, 3)) == 3
    assert sample_choices(null, 3) != sample_choices(null, 3, seed=50)


def test_condition_numbers_of_columns_of_zeros() -> None:
    null = null_of("four_bar")
    chosen = base_set(null, first(null))
    assert condition_number(chosen, np.zeros((40, len(null.names)))) == np.inf
    with pytest.raises(MechidError, match=f"W must have {len(null.names)} columns, got 3"):
        condition_number(chosen, np.zeros((4, 3)))


def test_scaled_factors() -> None:
    null = null_of("four_bar")
    chosen = base_set(null, first(null))
    scale = {n: 2.0 + k for k, n in enumerate(null.names)}
    found = tableau(chosen, scale)
    for (i, n), (j, d) in product(enumerate(chosen.base), enumerate(chosen.dependent)):
        assert found.beta[i, j] == pytest.approx(chosen.beta[i, j] * scale[n] / scale[d])


def test_counts_of_parts_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    # Any one of three, and any two of four.
    parts = [np.ones((3, 1)), np.array([[1.0, k] for k in range(4)])]
    monkeypatch.setattr(count, "independent_parts", lambda _: parts)
    found = count_choices(SimpleNamespace())  # type: ignore[arg-type]
    assert found.exact == 3 * 6
    assert found.log10 == pytest.approx(math.log10(18))
    assert found.parts == ((3, 1), (4, 2))
    assert found.bound == math.comb(7, 3)
    # What cannot be counted is estimated, and the whole is no number any more.
    monkeypatch.setattr(count, "count_bases", lambda rows: None if len(rows) == 4 else 3)
    found = count_choices(SimpleNamespace())  # type: ignore[arg-type]
    assert found.exact is None
    assert found.log10 == pytest.approx(math.log10(18), abs=1e-9)  # all picks are valid


def test_estimate_of_few_valid_picks() -> None:
    # One row of thirty in a direction of its own: 29 of 435 picks of two.
    rows = np.zeros((30, 2))
    rows[:, 0] = 1.0
    rows[0] = [0.0, 1.0]
    assert count_bases(rows) == 29
    assert count_bases(np.zeros((3, 0))) == 1
    found = count._estimate(rows, np.random.default_rng(0))
    assert found == pytest.approx(math.log10(29), abs=5 * math.sqrt(15 / 4000) / math.log(10))


def test_states_at_the_bound() -> None:
    rows = np.array([[1.0, k] for k in range(6)])
    most = next(n for n in range(1, 100) if count_bases(rows, most=n) is not None)
    assert count_bases(rows, most=most) == 15
    assert most > 1


# ------------------------------------------------------------------------------ names and rules


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("m_3", "m_{3}"),
        ("mx_12", "mx_{12}"),
        ("Ixy_2", "I_{xy,2}"),
        ("k_strut", r"k_{\mathrm{strut}}"),
        ("preload_a_b", r"\mathrm{preload}_{\mathrm{a\_b}}"),
        ("m_x", r"m_{\mathrm{x}}"),
        ("alone", r"\mathrm{alone}"),
    ],
)
def test_names_in_latex(name: str, shown: str) -> None:
    assert latex_name(name) == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (sp.Rational(1, 1000), "1/1000"),
        (sp.Rational(1, 1001), "0.000999001"),
        (sp.Integer(999999), "999999"),
        (sp.Rational(1000001, 2), "500000."),
        (sp.Float("2.0000000000001"), "2"),
        (sp.Float("2.00001"), "2.00001"),
        (sp.Float("0.123456789"), "0.123457"),
    ],
)
def test_short_numbers(number: sp.Expr, shown: str) -> None:
    assert sp.sstr(short(number)).rstrip("0") == shown.rstrip("0")
    assert short(number, None) is number


def test_sums_are_written_with_their_signs() -> None:
    null = null_of("four_bar")
    chosen = base_set(null, first(null))
    for name in chosen.base:
        row = chosen.row(name)
        shown = text(chosen, name, 3, symbols=False)
        assert shown.startswith(name)
        terms = shown.replace("- ", "+ -").split(" + ")
        assert len(terms) == len(row)
        for (n, x), term in zip(row.items(), terms, strict=True):
            value = sp.sympify(term, {n: sp.Integer(1)})
            assert float(value) == pytest.approx(x, rel=1e-2)


def test_rules_and_their_names() -> None:
    mechanism = load("four_bar")
    null = null_of("four_bar")
    for name, rule in (("first", first), ("last", last)):
        assert rule_of(mechanism, name)(null) == rule(null)
    listed = first(null)
    assert rule_of(mechanism, ", ".join([*listed, ""]))(null) == listed
    assert as_listed(null, listed[::-1]) == listed
    with pytest.raises(DataError, match=r"there is no base set nothing; use a \.yaml file, or"):
        rule_of(mechanism, "nothing")
    with pytest.raises(DataError, match="exclude each other"):
        rule_of(mechanism, "last", ["coupler"])
    with pytest.raises(MechidError, match=f"{listed[0]} is listed twice"):
        as_listed(null, [*listed, listed[0]])
    with pytest.raises(MechidError, match=f"rank {len(listed) - 1}, {len(listed)} are required"):
        as_listed(null, listed[1:])
