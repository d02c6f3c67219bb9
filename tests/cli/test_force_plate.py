"""A machine on a force plate, from the design of a motion to its parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechid.modelfile.api import save
from mechid.tables import read_columns, write_table
from mechid.tasks.stages import base_of

from ..dynamics.test_moving_base import arm

MOTION = """
trajectory: 1
duration: 2
rate: 50
coordinates:
  waist: {fourier: {frequency: 0.5, offset: 0.2, a: [1.0, -0.5, 0.8], b: [0.3, 0.9, -0.4]}}
  elbow: {fourier: {frequency: 0.5, offset: -0.3, a: [-0.6, 1.1, 0.4], b: [0.8, -0.2, 0.9]}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("measured", ["all", "plate only"])
def test_parameters_come_back_from_the_plate(run, measured):
    """Without noise, least squares finds the base parameters of the drawn truth.

    The plate alone suffices: its forces see all that the joint torques see.
    """
    mechanism = arm(base={"held": True})
    save(mechanism, "arm.yaml")
    Path("motion.yaml").write_text(MOTION)
    made = run("synthesise", "arm.yaml", "motion.yaml", "-o", "log.csv", "--cad-error", "20%",
               "--seed", "3")  # fmt: skip
    assert made.status == 0
    columns = {name: np.asarray(c.to_numpy()) for name, c in read_columns("log.csv").items()}
    assert not any(name.startswith("base.") for name in columns)  # it stands still
    if measured == "plate only":  # as a plate names its channels
        names = {f"F_base.{a}": f"base.F{a}" for a in "xyz"}
        names |= {f"M_base.{a}": f"base.M{b}"
                  for a, b in zip(("roll", "pitch", "yaw"), "xyz", strict=True)}  # fmt: skip
        columns = {
            names.get(k, k): v for k, v in columns.items() if k not in ("M_waist", "M_elbow")
        }
    write_table("log2.csv", columns)
    done = run("identify", "arm.yaml", "log2.csv", "-o", "out", "--estimator", "ols", "--truth",
               "log.csv.truth.json", "--json")  # fmt: skip
    assert done.status == 0, done.err
    table = read_columns("out/parameters.parquet")
    found = np.asarray(table["value"].to_numpy())
    truth = np.asarray(table["truth"].to_numpy())
    assert len(found) == len(base_of(mechanism).base) == 13
    np.testing.assert_allclose(found, truth, atol=1e-9)
