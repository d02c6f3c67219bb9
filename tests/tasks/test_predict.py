"""What a prediction says of itself."""

from __future__ import annotations

import pytest

import mechid


@pytest.mark.slow
def test_offsets_that_are_part_of_predicted_forces_are_named() -> None:
    motion = mechid.excite("five_bar", random=4, starts=0)
    words = {"noise": "1%", "cad_error": "20%", "periods": 3}
    shifted = mechid.synthesise("five_bar", motion, offset={"M1": 0.5}, **words)
    run = mechid.identify("five_bar", shifted, cad_error="20%")
    assert run.final.errors is not None
    m1, m2 = run.final.errors.offset
    said = mechid.predict(run, motion).notes[-1]
    assert said == (
        "the offsets of the identification are part of the predicted forces: "
        f"M1 {m1:.3g} N m, M2 {m2:.3g} N m"
    )
    plain = mechid.identify("five_bar", shifted, cad_error="20%", without="offsets, drifts")
    assert not any("offsets" in note for note in mechid.predict(plain, motion).notes)
