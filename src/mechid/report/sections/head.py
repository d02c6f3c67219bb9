"""Head: the result in a sentence, and the warnings."""

from __future__ import annotations

from mechid.report.numbers import counted, number, percent
from mechid.report.section import Section
from mechid.report.words import final_model, not_there, row_of, units_of
from mechid.runs.record import ALL_LOGS, Run


def section(run: Run) -> Section:
    """Return the head of the page."""
    return Section(
        "head",
        run.mechanism.title or run.mechanism.name,
        {
            "model": run.about.model or run.mechanism.name,
            "done": _done(run),
            "result": _result(run),
            "errors": _channel_errors(run),
            "tiles": _tiles(run),
            "warnings": run.warnings,
        },
    )


def _done(run: Run) -> str:
    """Return what was done, in a sentence."""
    if run.estimate is None:
        return not_there(run, "estimate")
    forces = counted(len(run.motions[0].forces), "force")
    samples = sum(len(motion.time) for motion in run.logs)
    seconds = sum(float(motion.time[-1] - motion.time[0]) for motion in run.logs)
    words = (
        f"{counted(len(run.parameters.names), 'base parameter')} were estimated by "
        f"“{run.estimate.method}” from {samples} samples ({number(seconds, 3)} s) of {forces}"
    )
    if run.n_logs > 1:
        words += f" in {run.n_logs} logs"
    if run.reduction is not None:
        words += f", then reduced to {run.reduction.size.size}"
    if run.others:
        words += f", and validated on {counted(len(run.others), 'other motion')}"
    return words + "."


def _result(run: Run) -> str:
    """Return what came out: errors on the first validation motion, with those of the CAD values."""
    if not run.validation:
        return ""
    left_out = {row.model: row for row in run.left_out if row.motion == ALL_LOGS}
    model = "the model"
    if run.others:
        motion = run.others[0].name
        found, cad = row_of(run, motion, final_model(run)), row_of(run, motion, "cad")
        where = f"the motion “{motion}”, which was not used for identification"
    elif left_out:
        found, cad = left_out["estimate"], left_out.get("cad")
        where, model = "each log", "the model identified from the other logs"
    else:
        motion = run.motions[0].name
        found, cad = row_of(run, motion, final_model(run)), row_of(run, motion, "cad")
        where = "the identification motion (there is no other motion for validation)"
    if found is None:
        return ""
    n = len(found.forces)
    words = f"On {where}, {model} predicts the forces with an error of {found.words}"
    if cad is not None:
        words += f"; the CAD values alone reach {cad.words}"
    if n > 1:
        words += f". The errors of the {n} forces, each relative to that force, add up to "
        words += f"{percent(found.total)}, {percent(found.total / n)} per force"
        words += "" if cad is None else f" (CAD values {percent(cad.total)})"
    return words + "."


def _channel_errors(run: Run) -> str:
    """Return which errors of the force channels were found, with their sizes."""
    if run.estimate is None or run.final.errors is None:
        return ""
    units = units_of(run)
    found = []
    for term, (sizes, _) in run.final.errors.terms.items():
        each = ", ".join(
            f"{name} {percent(x) if term == 'gain' else number(x, 2)}"
            + {"gain": "", "delay": " s"}.get(term, f" {units[name]}")
            for name, x in zip(run.final.channels, sizes.tolist(), strict=True)
        )
        found.append(f"{term} ({each})")
    return f"Found in the measured forces and taken into account: {'; '.join(found)}." * bool(found)


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
