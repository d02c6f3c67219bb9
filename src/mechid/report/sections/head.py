"""Head: the result in a sentence, and the warnings."""

from __future__ import annotations

from mechid.report.numbers import counted, number, percent
from mechid.report.section import Section
from mechid.report.words import final_model, not_there, row_of
from mechid.runs.record import Run


def section(run: Run) -> Section:
    """Return the head of the page."""
    return Section(
        "head",
        run.mechanism.title or run.mechanism.name,
        {
            "model": run.about.model or run.mechanism.name,
            "done": _done(run),
            "result": _result(run),
            "tiles": _tiles(run),
            "warnings": run.warnings,
        },
    )


def _done(run: Run) -> str:
    """Return what was done, in a sentence."""
    if run.estimate is None:
        return not_there(run, "estimate")
    motion = run.motions[0]
    forces = counted(len(motion.forces), "force")
    words = (
        f"{counted(len(run.parameters.names), 'base parameter')} were estimated by "
        f"“{run.estimate.method}” from {len(motion.time)} samples "
        f"({number(float(motion.time[-1] - motion.time[0]), 3)} s) of {forces}"
    )
    if run.reduction is not None:
        words += f", then reduced to {run.reduction.size.size}"
    others = len(run.motions) - 1
    if others:
        words += f", and validated on {counted(others, 'other motion')}"
    return words + "."


def _result(run: Run) -> str:
    """Return what came out: errors on the first validation motion, with those of the CAD values."""
    if not run.validation:
        return ""
    motion = run.motions[-1 if len(run.motions) == 1 else 1].name
    found, cad = row_of(run, motion, final_model(run)), row_of(run, motion, "cad")
    if found is None:
        return ""
    n = len(found.forces)
    where = "the identification motion (there is no other motion for validation)"
    if motion != run.motions[0].name:
        where = f"the motion “{motion}”, which was not used for identification"
    words = f"On {where}, the model predicts the forces with an error of {found.words}"
    if cad is not None:
        words += f"; the CAD values alone reach {cad.words}"
    if n > 1:
        words += f". The errors of the {n} forces, each relative to that force, add up to "
        words += f"{percent(found.total)}, {percent(found.total / n)} per force"
        words += "" if cad is None else f" (CAD values {percent(cad.total)})"
    return words + "."


def _tiles(run: Run) -> list[tuple[str, str, str]]:
    """Return the numbers at the top: (value, name, more)."""
    tiles = [(str(len(run.parameters.names)), "base parameters", "")]
    if run.reduction is not None:
        tiles.append((str(run.reduction.size.size), "estimated", "after reduction"))
    for motion in run.motions:
        row, cad = row_of(run, motion.name, final_model(run)), row_of(run, motion.name, "cad")
        if row is not None:
            more = "" if cad is None else f"CAD alone {cad.words}"
            tiles.append((row.words, f"prediction error, {motion.name}", more))
    return tiles
