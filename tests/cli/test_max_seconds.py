"""Commands that can run long end when the time is up, with what they have."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_simulate_keeps_what_was_computed(run):
    done = run("simulate", "four_bar", "--t-end", "1000", "--max-seconds", "0.5", "-o", "part.csv")
    assert done.status == 130
    assert "results until" in done.err
    last = Path("part.csv").read_text(encoding="utf-8").splitlines()[-1]
    assert 0 < float(last.split(",")[0]) < 1000


@pytest.mark.slow
def test_base_gives_the_number_without_its_certificate(run):
    done = run("base", "sla_suspension", "--certify", "--max-seconds", "0.2", "--json")
    assert done.status == 0
    assert done.json["base"] == 83
    assert done.json["certified"] is False
    assert "was too short for the certificate" in done.err


def test_a_time_that_is_none(run):
    for command in (("simulate", "four_bar", "--t-end", "1"), ("base", "four_bar", "--certify")):
        done = run(*command, "--max-seconds", "0")
        assert done.status == 2
        assert "--max-seconds must be > 0, got 0" in done.err
