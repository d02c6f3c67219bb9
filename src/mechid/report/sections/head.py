"""Head: the verdict, then what was done, the errors and the warnings."""

from __future__ import annotations

from mechid.report.numbers import counted, number, percent
from mechid.report.section import Section, not_there, units_of
from mechid.runs.record import Run
from mechid.runs.verdict import verdict
from mechid.runs.verdict_trust import final_model, row_of, unseen_rows


def section(run: Run) -> Section:
    """Return the head of the page."""
    return Section(
        "head",
        run.mechanism.title or run.mechanism.name,
        {
            "model": run.about.model or run.mechanism.name,
            "verdict": verdict(run),
            "done": _done(run),
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
    if run.others and run.validation:
        words += f", and validated on {counted(len(run.others), 'other motion')}"
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
    rows = [(row_of(run, m.name, final_model(run)), row_of(run, m.name, "cad")) for m in run.logs]
    for row, cad in (*rows, *unseen_rows(run)):
        if row is not None:
            used = any((row, cad) == pair for pair in rows)
            name = row.motion if used else f"{row.motion}, not used"
            more = "" if cad is None else f"CAD alone {cad.words}"
            tiles.append((row.words, f"prediction error, {name}", more))
    return tiles
