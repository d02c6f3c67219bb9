"""What commands say of a run: for JSON, and to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from mechid.cli.common import print_notes, print_pairs, print_table

if TYPE_CHECKING:
    from mechid.runs.record import Run
    from mechid.signals.record import PreparedMeasurement

# Of errors of the channels; offsets and drift have that of the force.
_UNITS = {"delay": " (s)"}
# Findings and motions of the head, the last ones.
_FOUND, _MOTIONS = 5, 4
_VAGUE = 100.0  # percent: a standard deviation as large as the value itself


def report(run: Run) -> dict[str, Any]:
    """Return everything that a run says, ready for JSON."""
    from mechid.options import to_words
    from mechid.runs.folder import summary
    from mechid.runs.logs import spread_words
    from mechid.runs.verdict import verdict

    return {
        "model": run.mechanism.name,
        "samples": sum(len(motion.time) for motion in run.logs),
        "logs": [_log(motion) for motion in run.logs],
        **summary(run),
        "parameters": _parameters(run),
        "channel_errors": _channel_errors(run),
        "validation": to_words(run.validation),
        "left_out": to_words(run.left_out),
        "spread": spread_words(run.spread),
        "known": list(run.final.known),
        "stages": list(run.stages),
        "notes": [
            *_preparation(run),
            *_advice(run),
        ],
        "warnings": list(run.warnings),
        "diagnosis": to_words(run.diagnosis),
        "added": to_words(run.added),
        "found": to_words(run.final.found),
        "head": head_lines(run),
        "verdict": to_words(verdict(run)),
    }


def _log(motion: PreparedMeasurement) -> dict[str, Any]:
    return {
        "name": motion.name,
        "file": motion.source,
        "samples": len(motion.time),
        "start": float(motion.time[0]),
        "end": float(motion.time[-1]),
    }


def _preparation(run: Run) -> list[str]:
    """Return how the motions were prepared; of others than the first only what is different."""
    first, *others = run.motions
    news = [f"{m.name}: {note}" for m in others for note in m.notes if note not in first.notes]
    return [*first.notes, *news]


def _advice(run: Run) -> list[str]:
    """Say which options help where single values mean little."""
    if run.final.known or not (run.final.relative > _VAGUE).any():
        return []
    return ["try --estimator auto (with CAD values) or --reduce contribution"]


def _parameters(run: Run) -> list[dict[str, Any]]:
    from mechid.runs.parameter_meanings import base_meaning, meanings

    final, table, known = run.final, run.parameters, meanings(run.mechanism)
    at = {name: i for i, name in enumerate(final.parameters)}
    rows = []
    for i, name in enumerate(table.names):
        k = at.get(name)
        row: dict[str, Any] = {
            "name": name,
            "unit": table.units[i],
            "expression": table.text[i],
            "meaning": base_meaning(name, table.text[i], known),
            "cad": float(table.cad[i]),
            "cad_sigma": float(table.cad_sigma[i]),
            "value": None if k is None else float(final.values[k]),
            "sigma": None if k is None else float(final.sigma[k]),
            "sigma_percent": None if k is None else float(final.relative[k]),
        }
        if table.truth is not None:
            row["truth"] = float(table.truth[i])
        rows.append(row)
    return rows


def _channel_errors(run: Run) -> dict[str, dict[str, dict[str, float | None]]]:
    """Return gains, offsets, drift and delays that were estimated, by force."""
    errors = run.final.errors
    terms = {} if errors is None else errors.terms
    return {
        term: {
            name: {"value": float(x), "sigma": None if sigma is None else float(sigma[j])}
            for j, (name, x) in enumerate(zip(run.final.channels, sizes, strict=True))
        }
        for term, (sizes, sigma) in terms.items()
    }


def head_lines(run: Run) -> list[str]:
    """Return what a reader wants first: errors, what was found besides, and the verdict."""
    from mechid.options import to_words
    from mechid.runs.verdict import verdict
    from mechid.runs.verdict_trust import gross

    several = f" of {run.n_logs} logs" if run.n_logs > 1 else ""
    samples = sum(len(motion.time) for motion in run.logs)
    lines = [
        f"{run.mechanism.name}: {len(run.parameters.names)} base parameters from {samples} "
        f"samples{several}, by {run.final.method}"
    ]
    rows: Any = to_words(run.validation)
    motions = _motions(rows)
    lines += [f"error {_error_words(rows, motion)}" for motion in motions[-_MOTIONS:]]
    if run.left_out:
        others: Any = to_words(run.left_out)
        words = _error_words(others, _motions(others)[-1])
        lines.append(f"error, each log from the others, {words}")
    names = {f.name for f in run.added}
    found = [f"in the model now: {f.words}" for f in run.added]
    if not gross(run):  # beside such a mistake sizes are meaningless
        found += [f"found: {f.words}" for f in run.final.found if f.likely and f.name not in names]
    lines += found[:_FOUND]
    if len(found) > _FOUND:
        lines.append(f"and {len(found) - _FOUND} more: --details")
    if run.warnings:
        n = len(run.warnings)
        lines.append(f"{n} warning{'s' if n > 1 else ''}: --details")
    return [*lines, *verdict(run).lines]


def _error_words(rows: Sequence[dict[str, Any]], motion: str) -> str:
    """Say how wrong the forces of the final model are on a motion, all together and each."""
    from mechid.runs.record import overall_words

    own = {row["model"]: row for row in rows if row["motion"] == motion}
    final = list(own.values())[-1]
    cad = f" (CAD values {overall_words(own['cad']['overall'])})" if "cad" in own else ""
    each = ", ".join(f"{name} {_percent(e['E_p'])}" for name, e in final["forces"].items())
    return f"on {motion}: {overall_words(final['overall'])}{cad}: {each}"


def show(found: dict[str, Any], details: bool = False) -> None:
    """Print a run for a reader; with `details` all tables before the head."""
    if details:
        _show_details(found)
    else:
        _show_head(found)
    for path in found["output"]:
        typer.echo(f"wrote {path}")
    if details:
        typer.echo("")
        _show_head(found)
    else:
        folder = "".join(f", or mechid report {path}" for path in found["output"])
        typer.echo(f"all values and notes: --details{folder}")


def _show_head(found: dict[str, Any]) -> None:
    for line in found["head"]:
        typer.echo(line)


def _show_details(found: dict[str, Any]) -> None:
    logs = found["logs"] if len(found["logs"]) > 1 else []
    pairs = [(log["name"], _log_words(log)) for log in logs]
    for word in ("estimate", "reduced"):
        if word in found:
            e = found[word]
            size = f"{e['parameters']} parameters, condition {e['condition']:.3g}"
            pairs.append((word, f"{e['method']}, {size}"))
    pairs += [("known", word) for word in found["known"]]
    if "reduction" in found:
        r = found["reduction"]
        pairs.append(("reduction", f"by {r['rule']} to {r['size']}: {r['why']}"))
    if found["spread"]:
        pairs.append(("between logs", _spread_words(found["spread"])))
    if "full" in found:
        pairs.append(("all parameters", _full_words(found["full"])))
    print_pairs(pairs)
    typer.echo("")
    show_parameters(found["parameters"])
    for term, forces in found["channel_errors"].items():
        typer.echo("")
        rows = [
            (n, _number(x["value"]), "" if x["sigma"] is None else _number(x["sigma"]))
            for n, x in forces.items()
        ]
        print_table(("force", f"{term}{_UNITS.get(term, '')}", "σ"), rows)
    typer.echo("")
    show_validation(found["validation"])
    if found["left_out"]:
        typer.echo("\neach log predicted by the model identified from the other logs:")
        show_validation(found["left_out"])
    print_notes(found["notes"])
    print_notes(found["warnings"], "warning")
    print_notes([f"{d['text']}; {d['remedy']}" for d in found["diagnosis"]], "diagnosis")


def _log_words(log: dict[str, Any]) -> str:
    """Say where a log comes from, and which times of it were used."""
    times = f"{log['samples']} samples, {log['start']:.5g} s to {log['end']:.5g} s"
    return f"{log['file']}: {times}" if log["file"] else times


def _spread_words(spread: dict[str, Any]) -> str:
    """Say how much estimates from single logs differ."""
    if spread["largest"] is None:
        return "no parameter is determined by two logs"
    name, largest = spread["largest"]
    return (
        f"estimates of single logs differ by {spread['rms']:.3g} standard deviations rms "
        f"({spread['determined']} parameters determined by the data; {name} by {largest:.3g}; "
        f"{spread['whitened']:.3g} if correlations count); 1 is expected"
    )


def _motions(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["motion"] for row in rows))


def _full_words(full: dict[str, Any]) -> str:
    """Say how far all parameters are from the base values."""
    if full["distance"]:
        words = (
            f"base values {full['distance']:.2g} standard deviations away (the nearest possible)"
        )
    else:
        words = f"base values the same to {full['difference']:.1g}"
    return f"{full['parameters']}, physically consistent, {words}: full.json"


def show_parameters(rows: Sequence[dict[str, Any]]) -> None:
    """Print a table of parameters."""
    truth = any("truth" in row for row in rows)
    titles = ["parameter", "unit", "CAD", "value", "σ", "σ %", *(["truth"] if truth else [])]
    keys = ["cad", "value", "sigma", "sigma_percent", *(["truth"] if truth else [])]
    print_table(titles, [[r["name"], r["unit"], *(_cell(r, k) for k in keys)] for r in rows])


def show_validation(rows: Sequence[dict[str, Any]]) -> None:
    """Print errors in percent: a row per motion and force, a column per model with its size.

    Of all forces together first, then E_p of each force.
    """
    models = {row["model"]: row["size"] for row in rows}
    by = {(row["motion"], row["model"]): row for row in rows}
    lines = []
    for motion in _motions(rows):
        found = [by[motion, model] for model in models]
        for unit in found[0]["overall"]:
            name = "all" if len(found[0]["overall"]) == 1 else f"all {unit}"
            lines.append((motion, name, *(_percent(row["overall"][unit]) for row in found)))
        for name in found[0]["forces"]:
            values = (_percent(row["forces"][name]["E_p"]) for row in found)
            lines.append((motion, name, *values))
    sizes = [f"{model} ({size})" if size else model for model, size in models.items()]
    print_table(("E_p, %", "force", *sizes), lines)


def _cell(row: dict[str, Any], key: str) -> str:
    """Return a number of a row; shares of values that are hardly there say nothing by their size,
    as in the report."""
    from mechid.runs.record import MOST_PERCENT

    value = row[key]
    if key == "sigma_percent" and value is not None and value > MOST_PERCENT:
        return f"> {MOST_PERCENT:g}"
    return _number(value)


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return "" if value is None or value != value else f"{100 * value:.3g}"
