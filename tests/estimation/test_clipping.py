"""Forces at the limit of a sensor are left out, and only those."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.clipping import clip_limits, without_clipped
from mechid.estimation.posterior.estimator import JointPosterior

from .problems import likely
from .test_channel_errors import PHI, PRIOR, measured


def test_limits() -> None:
    sine = np.sin(np.linspace(0, 20, 1000))
    assert clip_limits(sine) == ()
    assert clip_limits(np.minimum(sine, 0.7)) == (0.7,)
    assert clip_limits(np.clip(sine, -0.9, 0.7)) == (0.7, -0.9)
    assert clip_limits(np.round(sine, 1)) == ()  # steps of a recorder
    assert clip_limits(np.minimum(sine, 0.7)[:49]) == ()
    assert clip_limits(np.zeros(100)) == ()


def test_clipped_samples_do_not_count() -> None:
    r = measured(noise=0.05)
    limit = 0.6 * float(np.max(r.tau[:, 1]))
    tau = r.tau.copy()
    tau[:, 1] = np.minimum(tau[:, 1], limit)
    beyond = np.count_nonzero(tau[:, 1] == limit)
    wrong = replace(r, tau=tau)
    kept, (said,) = without_clipped(wrong, PRIOR)
    np.testing.assert_array_equal(kept.valid[:, 1], tau[:, 1] != limit)
    assert kept.valid[:, [0, 2]].all()
    assert f"force f1 is clipped at {limit:.4g} N: {beyond} samples" in said
    found = JointPosterior()(wrong, PRIOR)
    assert said in found.warnings
    assert not likely(found)
    assert np.all(np.abs(found.values - PHI) < 3 * found.sigma)
    # As if these samples were empty in the log.
    empty = JointPosterior()(kept, PRIOR)
    np.testing.assert_array_equal(found.values, empty.values)


def test_limits_of_each_log() -> None:
    r = measured(noise=0.05)
    log = (np.arange(500) >= 250).astype(np.int64)
    tau = r.tau.copy()
    tau[log == 1, 0] = np.maximum(tau[log == 1, 0], -3.0)
    kept, words = without_clipped(replace(r, tau=tau, log=log), PRIOR)
    (sentence,) = words
    assert sentence.startswith("force f0 of log 2 is clipped at -3 N: ")
    assert kept.valid[log == 0].all()
    assert not kept.valid[log == 1, 0].all()


@pytest.mark.parametrize("still", [True, False])
def test_a_force_that_is_constant_in_truth_stays(still: bool) -> None:
    """At rest all samples are alike, and that of the model too."""
    r = measured(noise=0.0)
    top = int(np.argmax(r.tau[:, 0]))
    W, tau = r.W.copy(), r.tau.copy()
    if still:
        W[100:150] = W[top]
    tau[100:150, 0] = tau[top, 0]
    _, words = without_clipped(replace(r, W=W, tau=tau), PRIOR)
    assert bool(words) != still
