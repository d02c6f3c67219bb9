"""Criteria: gradients against finite differences, closed forms, invariances, degenerate cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.linear import prior_factor
from mechid.excitation.criteria import (
    CRITERIA,
    Criterion,
    CriterionOptions,
    prediction_factor,
    resolution,
    rms_forces,
)

RNG = np.random.default_rng(11)
N, N_I, B = 12, 3, 5
W = RNG.normal(size=(N, N_I, B)) * np.array([1.0, 0.1, 3.0, 20.0, 0.5])
SIGMA = np.array([0.5, 2.0, 0.1])
ROOT = RNG.normal(size=(B, B)) * np.array([0.3, 2.0, 0.1, 0.05, 0.4])[:, None]
TARGETS = [RNG.normal(size=(7, N_I, B)), RNG.normal(size=(9, N_I, B))]

OPTIONS: dict[str, CriterionOptions] = {
    "plain": CriterionOptions(),
    "log": CriterionOptions(log=True),
    "noise": CriterionOptions(sigma=SIGMA),
    "one force not measured": CriterionOptions(sigma=np.array([0.5, np.inf, 0.1])),
    "scales": CriterionOptions(scales=np.array([1.0, 10.0, 0.3, 0.05, 2.0])),
    "prior": CriterionOptions(sigma=SIGMA, prior=ROOT @ ROOT.T, repeats=3.0),
    "subset": CriterionOptions(sigma=SIGMA, subset=(0, 3)),
    "subset and prior": CriterionOptions(sigma=SIGMA, subset=(4, 1, 2), prior=ROOT @ ROOT.T,
                                scales=np.array([1.0, 10.0, 0.3, 0.05, 2.0])),
}  # fmt: skip


def criterion(name: str, options: CriterionOptions) -> Criterion:
    if name == "prediction":
        H = prediction_factor(TARGETS, np.array([1.0, 3.0, 0.2]))
        options = replace(options, targets=H, subset=None)
    if name == "mixture":
        options = replace(options, mix=(0.3, 2.0))
    return Criterion(name, options)


def covariance(W: np.ndarray, o: CriterionOptions) -> np.ndarray:
    """C by normal equations, in the units of `scales`."""
    sigma = np.ones(W.shape[1]) if o.sigma is None else o.sigma
    scales = np.ones(W.shape[2]) if o.scales is None else o.scales
    A = (W / sigma[:, None] * scales).reshape(-1, W.shape[2])
    M = o.repeats * A.T @ A
    if o.prior is not None:
        M = M + np.linalg.inv(o.prior / np.outer(scales, scales))
    return np.linalg.inv(M)


def expected(name: str, W: np.ndarray, o: CriterionOptions) -> float:
    C = covariance(W, o)
    K = C if o.subset is None else C[np.ix_(o.subset, o.subset)]
    M = np.linalg.inv(K)
    s = np.sqrt(np.linalg.eigvalsh(M))
    d = np.sqrt(np.diag(M))
    e = np.sqrt(np.linalg.eigvalsh(M / np.outer(d, d)))
    scales = np.ones(W.shape[2]) if o.scales is None else o.scales
    variances = [np.einsum("njp,pq,njq->nj", t * scales, C, t * scales).mean(axis=0)
                 for t in TARGETS]  # fmt: skip
    value = {
        "a": np.trace(K),
        "d": np.log(np.linalg.det(K)),
        "e": np.linalg.eigvalsh(K)[-1],
        "condition": s[-1] / s[0],
        "condition-equilibrated": e[-1] / e[0],
        "mixture": 0.3 * s[-1] / s[0] + 2.0 / s[0],
        "prediction": np.mean([v / np.array([1.0, 3.0, 0.2]) ** 2 for v in variances]),
    }[name]
    return float(np.log(value) if o.log and name != "d" else value)


@pytest.mark.parametrize("case", OPTIONS)
@pytest.mark.parametrize("name", CRITERIA)
def test_value_is_that_of_the_normal_equations(name: str, case: str) -> None:
    o = OPTIONS[case]
    plain = replace(o, subset=None) if name == "prediction" else o
    assert criterion(name, o)(W) == pytest.approx(expected(name, W, plain), rel=1e-8)


@pytest.mark.parametrize("case", OPTIONS)
@pytest.mark.parametrize("name", CRITERIA)
def test_gradient_is_that_of_finite_differences(name: str, case: str) -> None:
    c = criterion(name, OPTIONS[case])
    value, gradient = c.value_and_gradient(W)
    assert gradient.shape == W.shape
    for _ in range(4):
        step = RNG.normal(size=W.shape) * np.abs(W).mean(axis=(0, 1))
        h = 1e-5
        difference = (c(W + h * step) - c(W - h * step)) / (2 * h)
        size = abs(value) + np.sum(np.abs(gradient * step))
        assert np.sum(gradient * step) == pytest.approx(difference, abs=2e-8 * size)


@pytest.mark.parametrize("name", CRITERIA)
def test_every_entry_of_a_gradient(name: str) -> None:
    c = criterion(name, OPTIONS["noise"])
    gradient = c.value_and_gradient(W)[1]
    h = 1e-6
    for place in [(0, 0, 0), (3, 2, 4), (11, 1, 3), (5, 0, 1), (7, 2, 2)]:
        step = np.zeros_like(W)
        step[place] = h
        difference = (c(W + step) - c(W - step)) / (2 * h)
        assert gradient[place] == pytest.approx(difference, rel=1e-5, abs=1e-7 * abs(c(W)))


def test_closed_forms_of_a_diagonal_matrix() -> None:
    s = np.array([4.0, 2.0, 0.5])
    D = np.diag(s)[:, None, :]
    found = {name: Criterion(name)(D) for name in CRITERIA if name != "prediction"}
    assert found["a"] == pytest.approx(1 / 16 + 1 / 4 + 4)
    assert found["d"] == pytest.approx(-2 * np.log(4 * 2 * 0.5))
    assert found["e"] == pytest.approx(4.0)
    assert found["condition"] == pytest.approx(8.0)
    assert found["condition-equilibrated"] == pytest.approx(1.0)
    assert found["mixture"] == pytest.approx(10.0)
    _, gradient = Criterion("a").value_and_gradient(D)
    np.testing.assert_allclose(gradient[:, 0], np.diag(-2 / s**3), atol=1e-14)
    # One parameter with a prior of variance p, seen n times with noise σ: 1/(1/p + n/σ²).
    one = CriterionOptions(sigma=np.array([3.0]), prior=np.array([[0.7]]))
    assert Criterion("a", one)(np.ones((5, 1, 1))) == pytest.approx(1 / (1 / 0.7 + 5 / 9))


def test_two_parameters_of_correlation_c() -> None:
    c = 0.8
    A = np.array([[1.0, c], [0.0, np.sqrt(1 - c**2)]])[:, None, :]
    kappa = np.sqrt((1 + c) / (1 - c))
    assert Criterion("condition")(A) == pytest.approx(kappa)
    assert Criterion("condition-equilibrated")(A * np.array([1e6, 1e-3])) == pytest.approx(kappa)
    # The Schur complement of one of them.
    assert Criterion("a", CriterionOptions(subset=(1,)))(A) == pytest.approx(1 / (1 - c**2))


@pytest.mark.parametrize("name", CRITERIA)
def test_order_of_samples_does_not_matter(name: str) -> None:
    c = criterion(name, OPTIONS["noise"])
    order = RNG.permutation(N)
    value, gradient = c.value_and_gradient(W)
    turned, by_turned = c.value_and_gradient(W[order])
    assert turned == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(by_turned, gradient[order], rtol=1e-9, atol=1e-9 * abs(value))


@pytest.mark.parametrize("name", ["condition-equilibrated", "d", "prediction"])
def test_units_of_parameters(name: str) -> None:
    scales = np.array([1e5, 1e-4, 1.0, 1e3, 1e-6])
    if name == "prediction":
        H = prediction_factor(TARGETS, np.ones(N_I))
        a, b = (
            Criterion(name, CriterionOptions(targets=H)),
            Criterion(name, CriterionOptions(targets=H * scales)),
        )
        assert b(W * scales) == pytest.approx(a(W), rel=1e-10)
        return
    c = Criterion(name)
    shift = -2 * np.sum(np.log(scales)) if name == "d" else 0.0
    assert c(W * scales) == pytest.approx(c(W) + shift, rel=1e-10)
    by_scaled = c.value_and_gradient(W * scales)[1] * scales
    np.testing.assert_allclose(by_scaled, c.value_and_gradient(W)[1], rtol=1e-7, atol=1e-9)


def test_condition_number_beyond_double_precision() -> None:
    # Badly scaled columns: κ is the ratio of the scales, whatever one SVD sees of it.
    Q = np.linalg.qr(RNG.normal(size=(30, 3)))[0]
    A = (Q * np.array([1e12, 1.0, 1e-9])).reshape(30, 1, 3)
    assert Criterion("condition")(A) == pytest.approx(1e21, rel=1e-9)
    assert Criterion("e")(A) == pytest.approx(1e18, rel=1e-9)
    assert Criterion("d")(A) == pytest.approx(-2 * np.log(1e3), rel=1e-9)


def test_more_noise_or_fewer_samples_are_never_better() -> None:
    for name in ("a", "d", "e", "prediction"):
        for case in ("noise", "prior", "subset and prior"):
            o = OPTIONS[case]
            assert criterion(name, o)(W[:8]) > criterion(name, o)(W)
            worse = replace(o, sigma=2 * SIGMA)
            assert criterion(name, worse)(W) > criterion(name, o)(W)


def test_repeats_are_repeated_samples() -> None:
    for name in CRITERIA:
        o = OPTIONS["prior"]
        thrice = criterion(name, replace(o, repeats=1.0))(np.concatenate([W, W, W]))
        assert criterion(name, o)(W) == pytest.approx(thrice, rel=1e-10)


def test_prior_without_data_is_the_prior() -> None:
    P = ROOT @ ROOT.T
    nothing = np.zeros_like(W)
    assert Criterion("a", CriterionOptions(prior=P))(nothing) == pytest.approx(np.trace(P))
    value, gradient = Criterion("d", CriterionOptions(prior=P)).value_and_gradient(nothing)
    assert value == pytest.approx(np.linalg.slogdet(P)[1])
    np.testing.assert_array_equal(gradient, 0.0)


def test_what_is_known_exactly_takes_no_part() -> None:
    P = ROOT @ ROOT.T
    P[2] = P[:, 2] = 0.0
    rest = [0, 1, 3, 4]
    smaller = P[np.ix_(rest, rest)]
    for name in ("a", "d", "e", "condition", "condition-equilibrated", "mixture"):
        whole = Criterion(name, CriterionOptions(prior=P))
        part = Criterion(name, CriterionOptions(prior=smaller))
        assert whole(W) == pytest.approx(part(W[:, :, rest]), rel=1e-9)
        np.testing.assert_array_equal(whole.value_and_gradient(W)[1][:, :, 2], 0.0)
    with pytest.raises(DataError, match="known exactly"):
        Criterion("a", CriterionOptions(prior=P, subset=(2,)))(W)


def test_prior_with_exact_relations() -> None:
    # Three parameters that follow from one number z of variance 1: C = f fᵀ / (1 + |A f|²).
    f = np.array([1.0, -2.0, 0.5])
    A = RNG.normal(size=(6, 1, 3))
    C = np.outer(f, f) / (1 + np.sum((A[:, 0] @ f) ** 2))
    for name, value in (("a", np.trace(C)), ("e", np.trace(C))):
        c = Criterion(name, CriterionOptions(prior=np.outer(f, f)))
        assert c(A) == pytest.approx(value, rel=1e-10)
        step, h = RNG.normal(size=A.shape), 1e-6
        difference = (c(A + h * step) - c(A - h * step)) / (2 * h)
        assert np.sum(c.value_and_gradient(A)[1] * step) == pytest.approx(difference, rel=1e-6)
    assert np.isfinite(Criterion("d", CriterionOptions(prior=np.outer(f, f)))(A))


def deficient(kind: str) -> np.ndarray:
    X = W.copy()
    if kind == "equal columns":
        X[:, :, 1] = X[:, :, 0]
    if kind == "column of zeros":
        X[:, :, 1] = 0.0
    if kind == "nothing":
        X[:] = 0.0
    return X[:1] if kind == "too few rows" else X


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("kind", ["equal columns", "column of zeros", "nothing", "too few rows"])
def test_rank_deficient_matrices_give_large_finite_results(name: str, kind: str) -> None:
    for case in ("plain", "log", "subset", "prior"):
        value, gradient = criterion(name, OPTIONS[case]).value_and_gradient(deficient(kind))
        assert np.isfinite(value)
        assert np.all(np.isfinite(gradient))
    plain = criterion(name, OPTIONS["plain"])
    # What is lost in rounding is worse by orders of magnitude; "d" is a logarithm.
    assert plain(deficient(kind)) > (plain(W) + 50 if name == "d" else 1e10 * plain(W))


def test_equal_singular_values_have_the_mean_gradient() -> None:
    # At the best condition number there is no way down.
    Q = np.linalg.qr(RNG.normal(size=(20, 4)))[0].reshape(20, 1, 4)
    for name in ("condition", "condition-equilibrated"):
        value, gradient = Criterion(name).value_and_gradient(Q)
        assert value == pytest.approx(1.0)
        np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    # E of equal ones: along Q itself all of them grow.
    value, gradient = Criterion("e").value_and_gradient(Q)
    assert np.sum(gradient * Q) == pytest.approx(-2.0)
    # It does not depend on the axes.
    turn = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    turned = Criterion("e").value_and_gradient(Q @ turn)[1]
    np.testing.assert_allclose(turned, gradient @ turn, atol=1e-12)


def test_resolution() -> None:
    whole = resolution(W * np.array([1e9, 1.0, 1e-9, 1.0, 1.0]), SIGMA)
    assert (whole.seen, whole.parameters) == (5, 5)
    assert whole.error < 1e-14
    assert resolution(deficient("equal columns")).seen == 4
    assert resolution(deficient("column of zeros")).error == 1.0
    assert resolution(deficient("too few rows")).seen == 3
    assert resolution(deficient("nothing")).seen == 0
    near = W.copy()
    near[:, :, 1] = near[:, :, 0] * (1 + 1e-9 * RNG.normal(size=(N, N_I)))
    assert 1e-8 < resolution(near).error < 1e-5


def test_prior_factor() -> None:
    P = ROOT @ ROOT.T * np.outer(*(2 * [np.array([1e6, 1.0, 1e-6, 1.0, 1.0])]))
    F = prior_factor(P)
    np.testing.assert_allclose(F @ F.T, P, rtol=1e-9, atol=1e-12)


def test_references_of_predictions() -> None:
    tau = np.array([[3.0, 0.0], [4.0, 0.0]])
    assert rms_forces(tau).tolist() == [np.sqrt(12.5), np.inf]
    # A coordinate that is left out counts neither above nor below the line.
    H = prediction_factor(TARGETS, np.array([2.0, np.inf, np.inf]))
    one = prediction_factor([t[:, :1] for t in TARGETS], np.array([2.0]))
    np.testing.assert_allclose(H.T @ H, one.T @ one, rtol=1e-12, atol=1e-14)
    each = prediction_factor(TARGETS, [np.full(N_I, 2.0), np.full(N_I, 2.0)])
    same = prediction_factor(TARGETS, np.array([2.0, 2.0, 2.0]))
    np.testing.assert_allclose(each.T @ each, same.T @ same, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Criterion("f"), "no criterion f"),
        (lambda: Criterion("prediction"), "needs targets"),
        (lambda: Criterion("a", CriterionOptions(targets=np.eye(B))), "takes no targets"),
        (
            lambda: Criterion("prediction", CriterionOptions(targets=np.eye(B), subset=(1,))),
            "no subset",
        ),
        (lambda: Criterion("a", CriterionOptions(sigma=np.zeros(N_I))), "sigma .* must be > 0"),
        (lambda: Criterion("a", CriterionOptions(repeats=0.0)), "repeats .* must be > 0"),
        (lambda: Criterion("a", CriterionOptions(sigma=np.ones(2)))(W), "must fit 2 forces"),
        (lambda: prediction_factor([], np.ones(1)), "no target motions"),
        (lambda: prediction_factor(TARGETS, np.zeros(N_I)), "must be > 0"),
        (
            lambda: prediction_factor(TARGETS, np.full(N_I, np.inf)),
            "all forces of target 1 are excluded",
        ),
        (lambda: prediction_factor([W, W[:, :2]], np.ones(N_I)), "target 2 must have shape"),
    ],
)
def test_wrong_criteria_are_refused(make: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        make()  # type: ignore[operator]
