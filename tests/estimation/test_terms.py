"""Rules by which the default estimator takes terms, at both sides of each of its bounds."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from mechid.estimation.automatic import (
    TERMS,
    _asked,
    _best,
    _better,
    _common_gain,
    _plausible,
    _words,
)
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import ChannelErrors

from .problems import prior, regression

BODIES = "CAD errors body by body"
PLAIN = MaximumAPosteriori("full", effective=True)


def made(**given: Any) -> Any:
    """Return what the rules read of a trial; by default nothing speaks for or against it."""
    evidence = given.pop("evidence", 0.0)
    ratio = np.atleast_1d(given.pop("ratio", 1.0))
    change = np.asarray(given.pop("change", np.zeros(10)))
    posterior = SimpleNamespace(
        evidence=evidence,
        unpriced_evidence=given.pop("unpriced", 0.0),
        fit=SimpleNamespace(share=given.pop("share", 1.0)),
    )
    usual = {
        "estimator": PLAIN, "white": False, "repeatable": None, "noise": False,
        "one_force": False, "outliers": False, "contradicted": False, "log_likelihood": 0.0,
        "largest_gain": 0.1,
    }  # fmt: skip
    return SimpleNamespace(
        posterior=posterior,
        untempered=posterior,
        ratios=lambda _: ratio,
        improvement=lambda _: change,
        mean=lambda _: given.get("error", 1.0),
        **usual | given,
    )


@pytest.mark.parametrize(
    ("name", "given", "asked"),
    [
        ("outliers", {"outliers": True}, True),
        ("outliers", {}, False),
        ("proportional noise", {"outliers": True}, True),
        (BODIES, {"contradicted": True}, True),
        (BODIES, {}, False),
        (BODIES, {"contradicted": True, "estimator": replace(PLAIN, scale=1.0)}, False),
        (BODIES, {"contradicted": True, "estimator": replace(PLAIN, prior="diagonal")}, False),
        ("gains", {}, True),
        ("gains", {"estimator": replace(PLAIN, gains="shared")}, False),
        ("gains", {"estimator": replace(PLAIN, gains=0.1)}, True),
        ("gains", {"one_force": True}, False),
        # A motion that repeats itself, with residuals that do not and look independent: noise.
        ("offsets", {"repeatable": False, "white": True}, False),
        ("offsets", {"repeatable": None, "white": True}, True),
        ("offsets", {"repeatable": False}, True),
        ("offsets", {"repeatable": True, "white": True}, True),
        ("colour", {}, True),
        ("colour", {"estimator": replace(PLAIN, tails=4.0)}, False),
        ("drift", {"estimator": replace(PLAIN, tails=4.0)}, True),
    ],
)
def test_terms_that_are_tried(name: str, given: dict[str, Any], asked: bool) -> None:
    assert name in TERMS
    assert _asked(name, made(**given)) is asked


STEADY = np.full(10, 1.0) + 0.1 * np.tile([1.0, -1.0], 5)
# Mean 1 and standard error s/√10 with s² = 10/9 a² for ±a: Student's t of 3/a, 2.5 for a = 1.2.
BARELY, HARDLY = (1.0 + a * np.tile([1.0, -1.0], 5) for a in (1.19, 1.21))
NOISE = {"noise": True, "evidence": 5.1}


@pytest.mark.parametrize(
    ("name", "before", "after", "better"),
    [
        # Laws of the noise: log likelihood of the effective samples, by more than ten.
        ("outliers", {}, {"log_likelihood": 10.1}, True),
        ("outliers", {}, {"log_likelihood": 10.0}, False),
        ("outliers", {"share": 0.5}, {"log_likelihood": 20.1}, True),
        ("outliers", {"share": 0.5}, {"log_likelihood": 19.9}, False),
        ("outliers", {"log_likelihood": 5.0}, {"log_likelihood": 14.0}, False),
        ("proportional noise", {}, {"log_likelihood": 11.0}, False),
        ("proportional noise", {}, {"log_likelihood": 11.0, "noise": True}, True),
        # Colour and bodies: evidence, and held-out errors of no force more than 2 % larger.
        ("colour", {"evidence": 1.0}, {"evidence": 6.1}, True),
        ("colour", {"evidence": 1.0}, {"evidence": 6.0}, False),
        ("colour", {"repeatable": True}, {"evidence": 9.0}, False),
        ("colour", {"repeatable": False}, {"evidence": 9.0}, True),
        ("colour", {}, {"evidence": 9.0, "ratio": [0.5, 1.03]}, False),
        ("colour", {}, {"evidence": 9.0, "ratio": [0.5, 1.01]}, True),
        ("colour", {}, {"evidence": 9.0, "ratio": [0.5, 1.02]}, False),
        (BODIES, {"repeatable": True}, {"evidence": 5.1}, True),
        (BODIES, {}, {"evidence": 5.0}, False),
        # Where the rest is noise: evidence, and held-out blocks with Student's t above 2.5.
        ("offsets", {}, NOISE | {"change": STEADY}, True),
        ("offsets", {}, NOISE | {"change": BARELY}, True),
        ("offsets", {}, NOISE | {"change": HARDLY}, False),
        ("offsets", {}, NOISE | {"change": STEADY, "evidence": 5.0}, False),
        ("offsets", {"evidence": 1.0}, NOISE | {"change": STEADY}, False),
        ("offsets", {}, NOISE | {"change": -STEADY}, False),
        ("offsets", {}, NOISE | {"change": STEADY[:1]}, False),
        ("offsets", {}, NOISE | {"change": [1.0, 3.0]}, False),  # 2 ± 1
        ("offsets", {}, NOISE | {"change": [2.0, 4.0]}, True),  # 3 ± 1
        ("offsets", {}, NOISE | {"change": [0.5, 1.5, 2.5, 3.5, -0.5]}, False),
        ("offsets", {}, NOISE | {"change": STEADY[:2]}, True),
        ("gains", {}, NOISE | {"change": STEADY}, True),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.02}, False),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.021}, True),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.49}, True),
        ("gains", {}, NOISE | {"change": STEADY, "largest_gain": 0.5}, False),
        ("offsets", {}, NOISE | {"change": STEADY, "largest_gain": 0.0}, True),
        # Where it is not: half of the squared error of some force, three quarters of all.
        ("offsets", {}, {"ratio": [0.4, 0.9]}, True),
        ("offsets", {}, {"ratio": [0.9, 0.4, 0.4]}, True),
        ("offsets", {}, {"ratio": [0.6, 0.6]}, False),
        ("offsets", {}, {"ratio": [0.4, 1.9]}, False),
        ("offsets", {}, {"ratio": [0.49, 1.1]}, True),
        ("offsets", {}, {"ratio": [0.49, 1.16]}, False),  # 0.7539
        ("offsets", {}, {"ratio": [0.51, 0.51]}, False),
        ("offsets", {}, {"ratio": [0.5, 0.5]}, False),
        ("gains", {}, {"ratio": [0.1, 0.1]}, False),
    ],
)
def test_terms_that_are_taken(
    name: str, before: dict[str, Any], after: dict[str, Any], better: bool
) -> None:
    assert _better(name, made(**before), made(**after)) is better


@pytest.mark.parametrize(
    ("trials", "best"),
    [
        ({}, None),
        ({"offsets": {"error": 0.5}, "drift": {"error": 0.495}}, "offsets"),  # the simpler one
        ({"offsets": {"error": 0.51}, "drift": {"error": 0.5}}, "offsets"),  # 2 % is alike
        ({"offsets": {"error": 0.52}, "drift": {"error": 0.5}}, "drift"),
        ({"outliers": {"error": 0.1}, "gains": {"error": 0.9}}, "gains"),  # laws come last
        ({"outliers": {"log_likelihood": 20.0}, "proportional noise": {"log_likelihood": 30.0}},
         "proportional noise"),
    ],
)  # fmt: skip
def test_the_best_term(trials: dict[str, dict[str, Any]], best: str | None) -> None:
    assert _best({name: made(**given) for name, given in trials.items()}, made()) == best


def test_words_on_what_was_tried() -> None:
    now = made(held_out_error=0.1234)
    tried = {"offsets": made(held_out_error=0.05), "drift": made(held_out_error=0.06)}
    assert _words(now, {}, None) == []
    assert _words(now, tried, None) == [
        "tried and not taken, error on held-out blocks 12.3 % without: offsets 5 %, drift 6 %"
    ]
    assert _words(now, tried, "drift") == [
        "drift taken: error on held-out blocks 6 % instead of 12.3 % (others: offsets 5 %)"
    ]
    assert _words(now, {"drift": tried["drift"]}, "drift") == [
        "drift taken: error on held-out blocks 6 % instead of 12.3 %"
    ]


def test_a_common_factor_remains() -> None:
    none = np.zeros(3)
    estimate = cast(
        Any, SimpleNamespace(errors=ChannelErrors(np.array([0.1, 0.0, -0.1]), *[none] * 3))
    )
    (said,) = _common_gain(estimate, asked=True)
    assert said.startswith("gains of the forces differ by 22 %, and nothing but")  # 1.1/0.9 - 1
    assert _common_gain(estimate, asked=False) == ()
    for errors in (None, ChannelErrors(none, none, none, none)):
        assert _common_gain(cast(Any, SimpleNamespace(errors=errors)), asked=True) == ()


@pytest.mark.parametrize(
    ("factors", "left"), [((1, 1, 1), (0, 1, 2)), ((1, 90, 1), (0, 2)), ((90, 90, 90), (0, 1, 2))]
)
def test_implausible_forces(factors: tuple[float, ...], left: tuple[int, ...]) -> None:
    """One of three is left out; if all are off, it is the CAD values or all units: none is."""
    r = regression(np.random.default_rng(0), [1.0, 2.0], 0.01, missing=0.1)
    r = replace(r, tau=r.tau * np.array(factors))
    found, words = _plausible(r, prior([1.0, 2.0], 1e-4 * np.eye(2)))
    np.testing.assert_array_equal(found.valid, r.valid & np.isin(range(3), left))
    assert len(words) == 3 - len(left)
    if words:
        assert words[0].startswith("force f1, 90 times what the CAD values predict")
    same, words = _plausible(r, None)
    assert same is r
    assert words == ()
