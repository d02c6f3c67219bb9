"""Rules by which the default estimator takes terms, at both sides of each of its bounds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.estimation.automatic import _asked, _best, _better, _common_gain
from mechid.estimation.estimate import ChannelErrors

BODIES = "CAD errors body by body"


def trial(**given: Any) -> Any:
    """A trial that says what is given: held-out errors, evidence, what was seen in residuals."""
    usual = {
        "noise": False,
        "evidence": 0.0,
        "ratio": (1.0,),
        "change": (),
        "largest_gain": 0.1,
        "log_likelihood": 0.0,
        "repeatable": None,
        "error": 1.0,
    }
    said = SimpleNamespace(**(usual | given))
    said.posterior = SimpleNamespace(evidence=said.evidence, fit=SimpleNamespace(share=0.5))
    said.untempered = SimpleNamespace(evidence=said.evidence)
    said.ratios = lambda _: np.array(said.ratio)
    said.improvement = lambda _: np.array(said.change)
    said.mean = lambda _: said.error
    return said


@pytest.mark.parametrize(
    ("ratio", "taken"),
    [((0.4, 0.9), True), ((0.6, 0.6), False), ((0.4, 1.9), False), ((0.9, 0.4, 0.4), True)],
)
def test_against_errors_of_the_model_a_term_must_help_much(
    ratio: tuple[float, ...], taken: bool
) -> None:
    """Squared errors of one force below half of before, and of all together three quarters."""
    assert _better("offsets", trial(), trial(ratio=ratio)) is taken
    assert _better("gains", trial(), trial(ratio=ratio)) is False


@pytest.mark.parametrize(
    ("change", "evidence", "taken"),
    [
        # Mean 2 and deviation 1 of the mean: t = 2; with 3.0 it is 3.
        ((1.0, 3.0), 6.0, False),
        ((2.0, 4.0), 6.0, True),
        ((2.0, 4.0), 4.0, False),
        ((3.0,), 6.0, False),
        ((-2.0, -4.0), 6.0, False),
        ((1.5, 2.5, 3.5, 4.5), 6.0, True),
        ((0.5, 1.5, 2.5, 3.5, -0.5), 6.0, False),
    ],
)
def test_against_noise_blocks_must_agree(
    change: tuple[float, ...], evidence: float, taken: bool
) -> None:
    """Student's t of the blocks above 2.5, and the log evidence 5 larger."""
    after = trial(noise=True, change=change, evidence=evidence)
    assert _better("offsets", trial(), after) is taken
    assert _better("gains", trial(), after) is taken
    assert _better("offsets", trial(evidence=10.0), after) is False


@pytest.mark.parametrize(
    ("gain", "taken"), [(0.01, False), (0.03, True), (0.4, True), (0.6, False)]
)
def test_gains_that_sensors_have(gain: float, taken: bool) -> None:
    after = trial(noise=True, change=(2.0, 4.0), evidence=6.0, largest_gain=gain)
    assert _better("gains", trial(), after) is taken
    assert _better("offsets", trial(), after) is True


def test_terms_that_the_evidence_decides() -> None:
    """5 more of it; held-out errors at most 2 % larger; no colour of errors that come again."""
    for name in ("colour", BODIES):
        assert _better(name, trial(), trial(evidence=6.0, ratio=(1.01, 0.9)))
        assert not _better(name, trial(), trial(evidence=4.0, ratio=(1.01, 0.9)))
        assert not _better(name, trial(), trial(evidence=6.0, ratio=(1.03, 0.9)))
    again, after = trial(repeatable=True), trial(evidence=6.0)
    assert not _better("colour", again, after)
    assert _better(BODIES, again, after)
    assert _better("colour", trial(repeatable=False), after)


def test_laws_of_noise_by_the_likelihood_of_effective_samples() -> None:
    """Half of the samples count: a gain of 20 is one of 10."""
    before = trial(log_likelihood=5.0)
    for noise in (False, True):
        assert _better("outliers", before, trial(noise=noise, log_likelihood=26.0))
        assert not _better("outliers", before, trial(noise=noise, log_likelihood=24.0))
        found = _better("proportional noise", before, trial(noise=noise, log_likelihood=26.0))
        assert found is noise


def test_the_simplest_of_about_equal_terms() -> None:
    offsets, drift = trial(error=1.015), trial(error=1.0)
    assert _best({"offsets": offsets, "drift": drift}, trial()) == "offsets"
    assert _best({"offsets": trial(error=1.03), "drift": drift}, trial()) == "drift"
    laws = {"outliers": trial(log_likelihood=2.0), "proportional noise": trial(log_likelihood=3.0)}
    assert _best(laws, trial()) == "proportional noise"
    assert _best({**laws, "drift": drift}, trial()) == "drift"
    assert _best({}, trial()) is None


def seen(
    *, outliers: bool = False, contradicted: bool = False, white: bool = False, **given: Any
) -> Any:
    options = {"scale": "estimated", "prior": "full", "tails": None} | given
    repeatable = options.pop("repeatable", None)
    return SimpleNamespace(
        outliers=outliers,
        contradicted=contradicted,
        white=white,
        repeatable=repeatable,
        estimator=SimpleNamespace(**options),
    )


def test_what_is_tried() -> None:
    for name in ("outliers", "proportional noise"):
        assert _asked(name, seen(outliers=True))
        assert not _asked(name, seen())
    assert _asked(BODIES, seen(contradicted=True))
    assert not _asked(BODIES, seen())
    assert not _asked(BODIES, seen(contradicted=True, scale=1.0))
    assert not _asked(BODIES, seen(contradicted=True, prior="diagonal"))
    # Nothing is looked for in white noise that does not come again.
    assert not _asked("offsets", seen(white=True, repeatable=False))
    assert _asked("offsets", seen(white=False, repeatable=False))
    assert _asked("offsets", seen(white=True, repeatable=True))
    assert _asked("offsets", seen(white=True))
    assert _asked("offsets", seen(tails=4.0))
    assert _asked("colour", seen())
    assert not _asked("colour", seen(tails=4.0))


def test_gains_that_only_the_cad_values_tell_apart() -> None:
    """1.1 over 0.88 is 25 % more."""
    zero = np.zeros(3)

    def estimate(gain: np.ndarray) -> Any:
        return SimpleNamespace(errors=ChannelErrors(gain, zero, zero, zero))

    (words,) = _common_gain(estimate(np.array([0.1, 0.0, -0.12])), taken=True)
    assert "differ by 25 %" in words
    assert _common_gain(estimate(np.array([0.1, 0.0, -0.12])), taken=False) == ()
    assert _common_gain(estimate(zero), taken=True) == ()
    assert _common_gain(SimpleNamespace(errors=None), taken=True) == ()  # type: ignore[arg-type]
