"""The verdict on a run: three questions answered in plain words, with the numbers behind them."""

from __future__ import annotations

from pathlib import Path

from mechid.runs.folder import load_run
from mechid.runs.record import Run
from mechid.runs.verdict_next import next_steps
from mechid.runs.verdict_parameters import which_parameters
from mechid.runs.verdict_record import Verdict
from mechid.runs.verdict_trust import can_be_trusted, without_noise


def verdict(run: Run | str | Path) -> Verdict:
    """Say whether a run can be trusted, which parameters matter, and what to do next.

    What the run cannot tell is "not known": without a motion that was not used, for instance, how
    well its model predicts.

    Parameters
    ----------
    run : Run, str or Path
        A run or its folder, as far as it came.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> found = mechid.verdict(mechid.identify("five_bar", log))
    >>> found.synthetic, found.trust.answer
    (True, 'not known')
    """
    found = run if isinstance(run, Run) else load_run(run)
    trust = can_be_trusted(found)
    return Verdict(
        synthetic=found.parameters.truth is not None,
        data=_data(found),
        trust=trust,
        parameters=which_parameters(found),
        next_steps=next_steps(found, trust),
    )


def _data(run: Run) -> str:
    if run.parameters.truth is None:
        return "Nothing says that the data are synthetic: they are taken as measured."
    noise = ", without noise" if without_noise(run) else ""
    return (
        f"The data are synthetic{noise}: forces were computed from a model whose parameters are "
        "known. Real measurements have errors that they lack."
    )
