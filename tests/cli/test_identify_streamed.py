"""`mechid identify-streamed`: the values of the Python function, in words and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import mechid

if TYPE_CHECKING:
    from .conftest import Run


@pytest.fixture
def log(run: Run) -> str:
    motion = mechid.excite("pendulum", random=2, starts=0)
    made = mechid.synthesise("pendulum", motion, noise="2%", cad_error="20%", periods=4)
    mechid.save_measurement(made, "long.parquet")
    return "long.parquet"


def test_values_are_those_of_identify(run: Run, log: str) -> None:
    done = run("identify-streamed", "pendulum", log, "--estimator", "ols", "--json")
    assert done.status == 0
    found = json.loads(done.out)
    whole = mechid.identify("pendulum", log, estimator="ols")
    assert whole.estimate is not None
    assert [p["name"] for p in found["parameters"]] == list(whole.estimate.parameters)
    values = [p["value"] for p in found["parameters"]]
    assert np.allclose(values, whole.estimate.values, rtol=1e-7, atol=0)
    text = run("identify-streamed", "pendulum", log, "--estimator", "ols").out
    assert f"E_p of M_hinge   {found['E_p']['M_hinge']:.2%}" in text


def test_wrong_input_is_one_line(run: Run, log: str) -> None:
    for words in (("nowhere.csv",), (log, "--estimator", "huber"), (log, "--cutoff", "-1")):
        done = run("identify-streamed", "pendulum", *words)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1
