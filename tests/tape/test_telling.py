"""What takes long is told, what does not is not."""

from __future__ import annotations

import logging
import time

import pytest

from mechid.tape.functions import telling


@pytest.mark.parametrize(("after", "told"), [(0.01, True), (60.0, False)])
def test_what_takes_long_is_told(
    after: float, told: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("mechid.tape.functions.TELL_AFTER", after)
    with caplog.at_level(logging.INFO, "mechid"), telling("making something"):
        end = time.monotonic() + 5.0
        while told and not caplog.records and time.monotonic() < end:
            time.sleep(0.01)
    assert [record.getMessage() for record in caplog.records] == ["making something"] * told
