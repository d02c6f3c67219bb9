"""Two logs of a measured arm, which are not part of the project: skipped where they are not found.

The bounds are goals that were set beforehand, not what the program gave. Least squares is 13.3 %
off on the other log (first to second), and its estimates differ by 7.5 standard deviations.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.estimation.estimate import Estimate

DATA = Path(__file__).parents[3] / "shared" / "data" / "lwr4"
MOST = 0.06  # relative error on the other log, all joints together

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the logs are not beside the project")


def identified(log: int, other: int) -> tuple[Estimate, float]:
    """Return the estimate from a log and its error on the other one."""
    run = mechid.identify(
        DATA / "lwr4.yaml",
        DATA / f"log{log}.parquet",
        mapping=DATA / "mapping.yaml",
        validate=DATA / f"log{other}.parquet",
    )
    forces = next(f for f in run.forces if f.name == "validation-1")
    assert run.estimate is not None
    off = np.linalg.norm(forces.predicted - forces.measured) / np.linalg.norm(forces.measured)
    return run.estimate, float(off)


@pytest.mark.slow
def test_each_log_predicts_the_other() -> None:
    (first, error), (second, back) = identified(2, 3), identified(3, 2)
    assert error < MOST
    assert back < MOST
    # Friction is that of a log, and may be of other shapes.
    shared = [p for p in first.parameters if p in second.parameters]
    assert len(shared) > 40
    one, two = (np.array([e.parameters.index(p) for p in shared]) for e in (first, second))
    z = (first.values[one] - second.values[two]) / np.hypot(first.sigma[one], second.sigma[two])
    assert np.sqrt(np.mean(z**2)) < 1.5
    for found in (first, second):
        assert found.unmodelled is not None
        assert np.max(found.unmodelled) > 0  # residuals of a real arm are not noise
