"""Advice in warnings of an estimate, by what was done already and by what a command can do.

An estimator knows neither the options of a run nor which command called it: its warnings name what
usually helps. Here they are changed where that was tried, or is no option of the command.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mechid.estimation import doubtful_offsets, unmodelled, unseen
from mechid.estimation.estimate import Estimate
from mechid.estimation.estimate_warnings import OTHER_FRICTION
from mechid.estimation.recover import NEAREST
from mechid.options import IdentifyOptions

# Where shapes of friction were tried and added, as far as they help.
_TRIED = {unmodelled.REMEDY: "see the diagnosis", OTHER_FRICTION: "friction of other kinds"}
# Where an estimate has the nearest values that bodies can have.
_MOVED = {NEAREST: "the nearest ones, which were taken, are"}
# Of a payload, whose mechanism is that of a run.
_OFFSETS = (
    "identify the run with offsets (--offsets), or, if the sensors are zeroed, with --set offsets=0"
)
_OF_RUN = {
    doubtful_offsets.REMEDY: _OFFSETS,
    unseen.OFFSETS: _OFFSETS,
    unmodelled.REMEDY: "identify the run with other friction (--friction auto)",
    OTHER_FRICTION: "a run with other friction (--friction auto)",
}
_OF_TRIED_RUN = {
    unmodelled.REMEDY: "see the diagnosis of the run",
    OTHER_FRICTION: "a run with friction of other kinds",
}


def friction_tried(options: IdentifyOptions) -> bool:
    """Return whether all shapes of friction were tried."""
    return "auto" in options.friction


def advised(estimate: Estimate, options: IdentifyOptions) -> Estimate:
    """Return an estimate whose warnings do not advise what was done, and say what was taken."""
    other = _TRIED if friction_tried(options) else {}
    other = other if estimate.full is None else {**other, **_MOVED}
    return replace(estimate, warnings=_changed(estimate.warnings, other))


def of_payload(warnings: Iterable[str], options: IdentifyOptions) -> tuple[str, ...]:
    """Return warnings of the estimate of a payload: what can be done concerns the run.

    `options` are those of the run.
    """
    tried = _OF_TRIED_RUN if friction_tried(options) else {}
    return _changed(warnings, {**_OF_RUN, **tried})


def _changed(warnings: Iterable[str], other: Mapping[str, str]) -> tuple[str, ...]:
    found = []
    for word in warnings:
        for before, after in other.items():
            word = word.replace(before, after)
        found.append(word)
    return tuple(found)
