"""What the reduced model has in common with the whole one is said once."""

from __future__ import annotations

from dataclasses import replace

import mechid
from mechid.options import ReduceOptions
from mechid.tasks.stages import base_of, problem_of, reduced


def test_a_warning_that_differs_in_figures_only_is_said_once() -> None:
    five_bar = mechid.load("five_bar")
    motion = mechid.excite(five_bar, random=5, starts=0)
    noise = {"noise": "1%", "noise_kind": "coloured"}
    log = mechid.synthesise(five_bar, motion, **noise, cad_error="20%", rate=50.0, periods=4)
    # Without `whiten` it takes noise as white, and says how wrong that is.
    run = mechid.identify(five_bar, log, cad_error="20%", estimator="map")
    options = replace(run.about.options, reduce=ReduceOptions(size=4))
    problem = problem_of(five_bar, base_of(five_bar), run.motions, options)
    said = "standard deviations for white noise are too small"
    assert any(said in word for word in run.warnings)
    again = reduced(run, problem, options)
    assert again.reduction is not None
    (own,) = (word for word in again.reduction.estimate.warnings if said in word)
    assert own not in run.warnings  # its figures are other ones
    assert again.warnings == run.warnings
    alone = reduced(replace(run, warnings=("offsets were taken",)), problem, options)
    assert f"reduced model: {own}" in alone.warnings
