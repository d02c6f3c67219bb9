"""Numbers that an estimate says of itself, against closed forms."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.bayes import MaximumAPosteriori, _bounds_hit, _worse
from mechid.estimation.estimate import Agreement
from mechid.estimation.estimate_warnings import coloured_residuals
from mechid.estimation.gaussian_prior import CAD_BELIEF, GaussianPrior, cad_prior
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.estimation.unseen import unseen_offsets
from mechid.tasks.cad_prior import widened

from .problems import coloured, prior, regression


def test_parameters_that_rest_on_the_prior() -> None:
    """One row each, a x = t with unit noise: σ falls to 1/√(1 + a²), to 0.9 for a = 0.484."""
    seen = np.array([0.0, 0.45, 0.52, 3.0])
    rows = np.tile(np.diag(seen)[:, None, :], (1, 1, 1))
    problem = Regression(
        W=rows,
        tau=np.zeros((4, 1)),
        known=np.zeros((4, 1)),
        time=np.arange(4.0),
        parameters=("a", "b", "c", "d"),
        channels=("f",),
        units=("N",),
        valid=np.ones((4, 1), dtype=bool),
        noise=np.ones(1),
    )
    known = prior(np.zeros(4), np.eye(4), problem.parameters)
    found = MaximumAPosteriori(scale=1.0, noise="declared")(problem, known)
    np.testing.assert_allclose(found.sigma, 1 / np.sqrt(1 + seen**2))
    assert found.resting == ("a", "b")


@pytest.mark.parametrize("a", [0.5, 0.6, 0.8])
def test_how_much_too_small_deviations_for_white_noise_are(a: float) -> None:
    """e_k = a e_(k-1) + w: at low frequencies 1/(1 - a) of w, which has √(1 - a²) of e."""
    rng = np.random.default_rng(5)
    r = regression(rng, [1.0, 2.0], n=20_000, n_d=1)
    e = coloured(rng, (20_000, 1), (a,))[:, 0]
    (said,) = coloured_residuals(r, e)
    factor = re.search(r"factor of up to ([\d.]+)", said)
    assert factor is not None
    assert float(factor[1]) == pytest.approx(np.sqrt(1 - a * a) / (1 - a), rel=0.06)


def test_what_is_left_to_the_data_may_be_ten_times_what_makes_all_forces() -> None:
    rng = np.random.default_rng(2)
    W = rng.normal(size=(50, 2, 3))
    W[..., 2] = 0.0
    forces = rng.normal(size=(50, 2))
    known = Prior(
        ("a", "b", "c"), ("a", "b", "c"), np.eye(3), np.zeros(3), np.diag([4.0, 9.0, 1.0])
    )
    wide = widened(known, np.array([False, True, True]), W, forces).covariance
    alone = np.linalg.norm(forces) / np.linalg.norm(W[..., 1])
    np.testing.assert_allclose(np.diag(wide), [4.0, (10 * alone) ** 2, 1.0])


def gaussian(scale: list[float], owners: tuple[str, ...] = ()) -> GaussianPrior:
    """Return a prior with a scale for each of its parameters."""
    n = len(scale)
    return GaussianPrior(
        np.zeros(n), np.eye(n), n, np.arange(n), np.array(scale), (CAD_BELIEF,) * n, owners
    )


@pytest.mark.parametrize(
    ("p", "scale", "option", "words"),
    [
        (0.01, 3.0, "estimated", None),
        (0.0099, 1.19, "estimated", "larger standard deviations of the CAD values do not explain"),
        (0.0099, 1.2, "estimated", "the data support 1.2 times .*, 1.1, 2.5 times were used"),
        (0.0099, 1.2, 2.0, "the data support 1.2 times .*, check or increase them"),
        (0.0099, 7.0, "bodies", "used as declared, but b 2.5 times"),
    ],
)
def test_disagreement_of_data_and_cad(p: float, scale: float, option: Any, words: str) -> None:
    estimator = MaximumAPosteriori("full", option)
    found = gaussian([1.1, 2.5], ("a", "b"))
    said = estimator._disagreement(Agreement(50.0, 10, p, scale), found)
    assert len(said) == (words is not None)
    if said:
        assert said[0].startswith(
            "data and CAD values disagree: χ² = 50, expected about 10 (p = 0.0"
        )
        assert re.search(words, said[0])


def test_bodies_with_larger_scales_are_named() -> None:
    """Those above 1.2, the largest first."""
    assert _worse(gaussian([1.21, 1.2, 9.0], ("a", "b", "c"))) == "c 9 times, a 1.2 times"
    assert _worse(gaussian([1.0, 1.2], ("a", "b"))) == "none larger"


def test_scales_at_their_bound_are_named() -> None:
    assert _bounds_hit(gaussian([1.0, 3.95])) == ()
    (said,) = _bounds_hit(gaussian([1.0, 3.97]))
    assert "were multiplied by 4, the largest factor allowed" in said
    given = replace(gaussian([1.0]), group=np.array([-1]), scale=np.zeros(0), beliefs=())
    assert _bounds_hit(given) == ()


@pytest.mark.parametrize(
    ("options", "scale", "words"),
    [
        ({"offsets": 0.02}, [], ["offsets of the forces, standard deviation 2.00% (given)"]),
        ({"offsets": "estimated"}, [2.0, 2.0, 2.0], ["10.00% of each (empirical Bayes)"]),
        ({"offsets": "estimated"}, [1.0, 2.0, 0.5], ["2.50% to 10.00% of each (empirical Bayes)"]),
        ({"gains": "shared", "drift": 0.1}, [1.0], ["gains of .* 5.00% of", "drift of .* 10.00%"]),
    ],
)
def test_errors_of_the_channels_are_said(
    options: dict[str, Any], scale: list[float], words: list[str]
) -> None:
    estimator = MaximumAPosteriori("full", 1.0, **options)
    r = regression(np.random.default_rng(0), [1.0, 2.0])
    found = cad_prior(
        estimator._channels(r), prior([1.0, 2.0], np.eye(2)), "full", 1.0, (), estimator.errors
    )
    said = estimator._channel_words(replace(found, scale=np.array(scale)), r)
    assert len(said) == len(words)
    for pattern, text in zip(words, said, strict=True):
        assert re.search(pattern.replace("(", r"\(").replace(")", r"\)"), text)


@pytest.mark.parametrize(
    ("delay", "scale", "source"), [("estimated", [2.0], "empirical Bayes"), (0.1, [], "given")]
)
def test_delays_are_times(delay: Any, scale: list[float], source: str) -> None:
    """A tenth of the time in which the force changes by its root mean square."""
    estimator = MaximumAPosteriori("full", 1.0, delay=delay)
    r, known = regression(np.random.default_rng(0), [1.0, 2.0]), prior([1.0, 2.0], np.eye(2))
    channels = estimator._channels(r)
    found = cad_prior(channels, known, "full", 1.0, (), estimator.errors)
    (said,) = estimator._channel_words(replace(found, scale=np.array(scale)), r)
    late = 1e3 * 0.1 * np.median(channels.usual_sizes("delay", known.mean))
    assert said == f"delay of the forces, standard deviation {late:.3g} ms ({source})"


def test_what_is_said_of_the_prior() -> None:
    r = regression(np.random.default_rng(0), [1.0, 2.0], 0.1)
    known = prior([1.0, 2.0], np.eye(2))
    for scale, words in ((1.5, "deviations times 1.5 (given)"), ("estimated", "(empirical Bayes)")):
        found = MaximumAPosteriori("full", scale)(r, known)  # type: ignore[arg-type]
        assert found.known[0].startswith("CAD values of 2 base parameters, full prior, declared")
        assert found.known[0].endswith(words)
        assert found.known[1].startswith("0 of 2 parameters are determined mainly by the prior")
        assert found.known[1].endswith("by less than 10 %")


@pytest.mark.parametrize(
    ("tails", "factor"), [(4.0, 2**0.5), (3.0, 3**0.5), (2.0, 1.0), (0.5, 1.0)]
)
def test_deviation_of_heavy_tails(tails: float, factor: float) -> None:
    """√(ν/(ν - 2)) times the scale; with two degrees of freedom or less there is none."""
    r = regression(np.random.default_rng(0), [1.0, 2.0], 0.1)
    estimator = MaximumAPosteriori("full", 1.0, tails=tails)
    found = estimator.posterior(r, prior([1.0, 2.0], np.eye(2)))
    estimate = estimator.estimate(found)
    np.testing.assert_allclose(estimate.noise, factor * found.fit.noise)
    assert estimate.tails == tails


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "diagonal", "scale": "bodies"}, "a scale for each body needs the full prior"),
        ({"tails": 0.0}, "degrees of freedom of the tails must be > 0, got 0"),
        ({"prior": "none", "drift": 0.1}, "drift and delay of the force channels need a prior"),
        ({"prior": "none", "delay": 0.1}, "drift and delay of the force channels need a prior"),
        ({"offsets": "shared"}, "deviation of offsets must be a number ≥ 0 or estimated, got"),
        ({"gains": "other"}, "deviation of gains must be a number ≥ 0 or estimated or shared, got"),
        ({"scale": np.nan}, "the scale of the prior must be a number ≥ 0"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    r = regression(np.random.default_rng(0), [1.0, 2.0], 0.1)
    with pytest.raises(DataError, match=message):
        MaximumAPosteriori(**options)(r, prior([1.0, 2.0], np.eye(2)))


def test_offsets_of_known_size_without_a_prior() -> None:
    """Normal equations with 1/σ² of each offset besides; a force of zeros has none to speak of."""
    r = regression(np.random.default_rng(1), [1.0, 2.0], 0.1, n=30)
    r = replace(r, tau=r.tau * np.array([1.0, 3.0, 0.0]), noise=np.array([0.1, 0.3, 0.2]))
    found = MaximumAPosteriori("none", offsets=0.2, noise="declared")(r)
    assert r.noise is not None
    A, t, channel = r.stacked()
    wide = np.hstack([A, np.eye(3)[channel]]) / r.noise[channel, None]
    size = 0.2 * np.sqrt(np.mean(r.tau**2, axis=0))
    known = np.diag([0.0, 0.0, *(1 / np.where(size > 0, size, 1.0) ** 2)])
    C = np.linalg.inv(wide.T @ wide + known)
    x = C @ wide.T @ (t / r.noise[channel])
    np.testing.assert_allclose(found.values, x[:2], rtol=1e-9)
    np.testing.assert_allclose(found.covariance, C[:2, :2], rtol=1e-9)
    assert found.errors is not None
    np.testing.assert_allclose(found.errors.offset, x[2:], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("along", "across", "said"),
    [(2.1, 3.87, True), (1.9, 0.0, False), (-2.1, 3.87, True), (9.0, 3.88, False)],
)
def test_offsets_that_the_data_could_not_show(along: float, across: float, said: bool) -> None:
    """A shift of two deviations, with less than √15 = 3.873 of it outside of the column."""
    q, n = np.array([0.6, 0.8, 0.0]), np.array([0.0, 0.0, 1.0])
    rows = along * q + across * n
    usual = np.array([0.0, 2.0, 4.0])
    seen = np.column_stack([rows, rows / (0.05 * 2.0), 0.1 * rows / (0.05 * 4.0)])
    posterior = SimpleNamespace(
        fit=SimpleNamespace(
            A=5.0 * q[:, None],
            transform=lambda x: seen @ x,
            solution=SimpleNamespace(root=np.array([[0.2]])),
        ),
        channels=SimpleNamespace(
            offsets=False,
            usual_sizes=lambda name, _: {"offsets": usual}[name],
            series=np.arange(3),
            names=("a", "b", "c"),
            regression=SimpleNamespace(parameters=("p",)),
        ),
        prior=prior([0.0], np.eye(1)),
    )
    sigma = np.array([0.2])
    found = unseen_offsets(cast(Any, posterior), sigma)
    assert len(found) == said
    if said:
        (words,) = found[0].words(sigma)
        assert words.startswith(
            "an offset of 5% of force b would not be seen in these data and would shift p by 2.1 "
            "standard deviations: estimate offsets"
        )
    assert unseen_offsets(cast(Any, posterior), np.zeros(1)) == ()
    posterior.channels.offsets = True
    assert unseen_offsets(cast(Any, posterior), sigma) == ()
