"""Base sets of estimators with and without CAD values."""

from __future__ import annotations

import pytest

import mechid
from mechid.runs.folder import load_run, save_run


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "number"), [("ols", 40), ("map", 41)])
def test_dependencies_that_no_transfer_explains(estimator: str, number: int, tmp_path) -> None:
    """A spring that cannot be told from a weight: CAD values decide, or it is left out."""
    motion = mechid.excite("macpherson", random=4, starts=0)
    log = mechid.synthesise("macpherson", motion, noise="1%", cad_error="10%", periods=2)
    run = mechid.identify("macpherson", log, estimator=estimator, cad_error="10%")
    assert run.estimate is not None
    assert len(run.estimate.parameters) == number
    assert (run.estimate.condition < 1e9) == (number == 40)

    # What comes after finds the same set.
    save_run(run, tmp_path / "run")
    smaller = mechid.reduce(load_run(tmp_path / "run"), size=10)
    assert smaller.parameters.names == run.parameters.names
