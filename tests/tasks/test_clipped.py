"""Clipped forces count nowhere: as if these samples were empty in the log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechid
from mechid.modelfile import load
from mechid.options import to_words
from mechid.runs.record import Run
from mechid.signals.record import Measurement

FIVE_BAR = load("five_bar")
PERIODS, RATE = 3, 200


def log_of(seed: int) -> Measurement:
    motion = mechid.excite(FIVE_BAR, random=4, starts=0, seed=seed)
    truth = mechid.synthesise(FIVE_BAR, motion, cad_error="20%").truth
    made = mechid.synthesise(
        FIVE_BAR, motion, noise="2%", truth=truth, periods=PERIODS, rate=RATE, seed=seed
    )
    return replace(made.measurement, yd=None, ydd=None)


def clipped(log: Measurement) -> tuple[Measurement, np.ndarray]:
    """Return a log whose first force is clipped at 60 % of its largest value, and where it is."""
    limit = 0.6 * float(log.tau[:, 0].max())
    tau = log.tau.copy()
    tau[:, 0] = np.minimum(tau[:, 0], limit)
    return replace(log, tau=tau), tau[:, 0] == limit


def emptied(log: Measurement, at: np.ndarray) -> Measurement:
    valid = log.valid.copy()
    valid[at, 0] = False
    return replace(log, valid=valid)


def said(run: Run) -> list[str]:
    return [word for word in run.warnings if "clipped" in word]


@pytest.mark.parametrize("words", [{"decimation": 1}, {"decimation": 4}, {"period": 1.0}])
def test_clipped_samples_count_nowhere(words: dict[str, Any]) -> None:
    """Neither in the estimate nor in errors, coverage and reduction; said once for each motion.

    What a filter makes of them is left out, too, and means over periods with one of them.
    """
    logs, empty, counts = [], [], []
    for seed in (0, 1):
        log, at = clipped(log_of(seed))
        logs.append(log)
        counts.append(np.count_nonzero(at[6:-6]))  # without the ends, which are dropped
        if "period" in words:
            phases = at.reshape(PERIODS, -1).any(axis=0)
            at, counts[-1] = np.tile(phases, PERIODS), np.count_nonzero(phases)
        empty.append(emptied(log, at))
    # They are left out before any estimator.
    options: dict[str, Any] = {"cad_error": "20%", "reduce": "contribution", "estimator": "map"}
    options |= words
    run = mechid.identify(FIVE_BAR, logs[0], validate=logs[1], **options)
    same = mechid.identify(FIVE_BAR, empty[0], validate=empty[1], **options)
    np.testing.assert_array_equal(run.final.values, same.final.values)
    assert to_words(run.validation) == to_words(same.validation)
    for place, count, word in zip(("", " of validation-1"), counts, said(run), strict=True):
        assert word.startswith(f"force M1{place} is clipped at ")
        assert f" N m: {count} samples with exactly this value were left out" in word
        assert (" samples are left" in word) == (words.get("decimation") == 4)
    assert said(same) == []
    assert [d.channel for d in run.diagnosis if d.kind == "clipped"] == ["M1", "M1"]
    assert not any("empty" in d.remedy for d in run.diagnosis if d.kind == "clipped")


@pytest.mark.slow
def test_a_motion_for_validation_only() -> None:
    run = mechid.identify(FIVE_BAR, log_of(0), cad_error="20%")
    log, at = clipped(log_of(1))
    found, same = (mechid.validate(run, x) for x in (log, emptied(log, at)))
    assert to_words(found.rows) == to_words(same.rows)
    assert [d["kind"] for d in to_words(found.diagnosis)] == ["clipped"]  # as files have it
    (word,) = [w for w in found.run.motions[-1].warnings if "clipped" in w]
    assert f"force M1 of validation-1 is clipped at {log.tau[:, 0].max():.4g} N m" in word
    assert said(run) == []


def test_a_log_in_blocks_warns(tmp_path: Path) -> None:
    """There they count: the result says so, also behind a filter."""
    log, at = clipped(log_of(0))
    columns = {"time": log.time}
    columns |= {c: log.y[:, k] for k, c in enumerate(log.names)}
    columns |= {f: log.tau[:, k] for k, f in enumerate(log.forces)}
    mechid.write_table(tmp_path / "log.parquet", columns)
    for decimation in (1, 4):
        found = mechid.identify_streamed(
            FIVE_BAR, tmp_path / "log.parquet", cad_error="20%", cutoff=20.0, decimation=decimation
        )
        (word,) = [word for word in found.warnings if "clipped" in word]
        assert word.startswith("force M1 is clipped at ")
        assert "were used as if they were measured" in word
        # Filters drop some of the ends.
        assert np.count_nonzero(at[40:-40]) <= int(word.split(" samples")[0].split()[-1])


@pytest.mark.slow
def test_a_log_with_a_payload() -> None:
    run = mechid.identify(FIVE_BAR, log_of(0), cad_error="20%")
    log, at = clipped(log_of(1))
    found, same = (
        mechid.payload(run, x, body="coupler_1", decimation=4) for x in (log, emptied(log, at))
    )
    np.testing.assert_array_equal(found.group_values, same.group_values)
    assert [word for word in found.warnings if word.startswith("force M1 is clipped at ")]
    assert not [word for word in same.warnings if "clipped" in word]
