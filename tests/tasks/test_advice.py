"""Advice that can be followed: not what was tried, and no options that a command does not have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mechid
from mechid.estimation import doubtful_offsets, unmodelled, unseen
from mechid.estimation.estimate_warnings import coloured_residuals
from mechid.estimation.recover import moved_words
from mechid.estimation.regression import Regression
from mechid.options import IdentifyOptions
from mechid.tasks.advice import advised, of_payload

from .arm import identified

AUTO = IdentifyOptions(friction=("auto",))
LACKING = f"residuals are not noise: {unmodelled.REMEDY}"


def coloured() -> str:
    """Return the warning about residuals that are a random walk."""
    n = 400
    e = np.cumsum(np.random.default_rng(0).normal(size=n))
    tau = 10.0 + e[:, None]
    r = Regression(W=np.ones((n, 1, 1)), tau=tau, known=np.zeros((n, 1)),
                   valid=np.ones((n, 1), dtype=bool),
                   parameters=("a",), channels=("f",), units=("N",),
                   time=0.01 * np.arange(n))  # fmt: skip
    (word,) = coloured_residuals(r, e)
    return word


def test_friction_that_was_tried_is_not_advised() -> None:
    estimate = identified(0, "2%", hysteresis="2%").estimate
    assert estimate is not None
    warned = replace(estimate, warnings=(LACKING, coloured()))
    assert advised(warned, IdentifyOptions()).warnings == warned.warnings
    assert all("--friction auto" in word for word in warned.warnings)
    lacking, colour = advised(warned, AUTO).warnings
    assert lacking.endswith(": see the diagnosis")
    assert "try offsets, friction of other kinds, or several logs" in colour


def test_runs_with_friction_auto_do_not_advise_it() -> None:
    """Cogging, which no shape of friction describes, leaves residuals that are no noise."""
    motion = mechid.excite("five_bar", random=4, starts=0)
    log = mechid.synthesise("five_bar", motion, noise="0.5%", cad_error="10%", periods=3)
    m = log.measurement
    wrong = replace(m, tau=m.tau + 0.1 * m.tau.std(axis=0) * np.sin(20 * m.y))
    for estimator in ("auto", "weighted"):
        run = mechid.identify("five_bar", wrong, estimator=estimator, friction="auto")
        said = [w for w in run.warnings if "residuals" in w]
        assert said
        assert not any("--friction auto" in word for word in run.warnings)


def test_moved_values_are_said_to_be_taken() -> None:
    """They are those of all parameters, which are physically consistent."""
    estimate = identified(0, "2%").estimate
    assert estimate is not None
    warned = replace(estimate, full=None, warnings=(moved_words(21.0, ("tool",)),))
    (kept,) = advised(warned, AUTO).warnings
    assert kept.endswith("the nearest ones are 21 standard deviations away (at the boundary: tool)")
    (moved,) = advised(replace(warned, full=np.zeros(3)), AUTO).warnings
    assert "the nearest ones, which were taken, are 21 standard deviations away" in moved


def test_a_payload_has_the_options_of_its_run() -> None:
    words = (LACKING, coloured(), doubtful_offsets.REMEDY, unseen.OFFSETS)
    for options in (IdentifyOptions(), AUTO):
        for word in of_payload(words, options):
            assert "run" in word
    assert not any("--friction" in word for word in of_payload(words, AUTO))
