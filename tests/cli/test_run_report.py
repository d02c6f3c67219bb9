"""What commands print of a run."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.cli.run_report import show_parameters


def test_shares_of_values_at_zero_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A coefficient at its bound of zero had a standard deviation of 9.033e+13 %."""
    usual = {"unit": "N m", "cad": 0.0, "value": 1e-15, "sigma": 0.009}
    shares = {"a": 3.0021, "b": 999.0, "c": 9.033e13, "d": np.inf, "e": None}
    show_parameters([usual | {"name": n, "sigma_percent": x} for n, x in shares.items()])
    rows = [line.split("0.009")[1].strip() for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == ["3.002", "999", "> 1000", "> 1000", ""]
