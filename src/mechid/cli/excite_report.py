"""What `mechid excite` says and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from mechid.cli.common import print_notes, print_pairs, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mechid.excitation.sampling import SamplingRow
    from mechid.tasks.evaluate_motion import MotionEvaluation
    from mechid.tasks.excite import DesignedMotion


def report(found: DesignedMotion) -> dict[str, Any]:
    """Return everything that `excite` says, ready for JSON."""
    import numpy as np

    e = found.excitation
    values = e.random_values
    notes = [] if e.complete else ["stopped before the end; this is the best so far"]
    notes += found.notes
    return {
        "model": found.mechanism.name,
        "criterion": found.options.criterion,
        "value": found.plain(e.value),
        "criteria": found.criteria,
        "best_random": found.plain(float(values.min())) if values.size else None,
        "median_random": found.plain(float(np.median(values))) if values.size else None,
        "random_motions": int(values.size),
        "evaluations": e.evaluations,
        "gradients": e.gradients,
        "seconds": e.seconds,
        "complete": e.complete,
        "slack": found.slack,
        "tightest_limit": found.tightest,
        "peaks": found.peaks,
        "limits": [limit.words for limit in found.limits],
        "base_parameters": found.base.rank,
        "coefficients": {
            name: [float(x) for x in family.coefficients]
            for name, family in zip(e.trajectory.names, e.trajectory.families, strict=True)
        },
        "notes": notes,
    }


def evaluation_report(
    model: str,
    found: MotionEvaluation,
    limited: bool,
    criterion: str | None,
    sampling: Sequence[SamplingRow] | None,
) -> dict[str, Any]:
    """Return everything that `excite --evaluate` says, ready for JSON."""
    from dataclasses import asdict

    result: dict[str, Any] = {"model": model, "criteria": found.criteria}
    result["peaks"] = found.peaks
    if limited:
        result |= {"slack": found.slack, "tightest_limit": found.tightest}
    if sampling is not None:
        result |= {"criterion": criterion, "sampling": [asdict(row) for row in sampling]}
    return result | {"notes": list(found.notes)}


def _random_words(found: dict[str, Any]) -> str:
    if not found["random_motions"]:
        return "0"
    best, median = found["best_random"], found["median_random"]
    return f"{found['random_motions']}; best {best:.4g}, median {median:.4g}"


def _tightest_words(found: dict[str, Any]) -> str:
    if not found["tightest_limit"]:
        return "none"
    word = "violated by" if found["slack"] < 0 else "slack"
    return f"{found['tightest_limit']} ({word} {abs(found['slack']):.2g})"


def _peak_words(peaks: Mapping[str, Mapping[str, float]]) -> list[tuple[str, str]]:
    return [
        (f"largest {quantity}", ", ".join(f"{name} {x:.3g}" for name, x in values.items()))
        for quantity, values in peaks.items()
    ]


def show(found: dict[str, Any]) -> None:
    """Print a report."""
    pairs = [("model", str(found["model"]))]
    if "value" in found:
        pairs += [
            ("criterion", f"{found['criterion']}: {found['value']:.4g}"),
            ("random motions", _random_words(found)),
            ("evaluations", f"{found['evaluations']} in {found['seconds']:.1f} s"),
        ]
    if "slack" in found:
        pairs.append(("tightest limit", _tightest_words(found)))
    pairs += _peak_words(found["peaks"])
    pairs += [(name, f"{value:.4g}") for name, value in found["criteria"].items()]
    print_pairs(pairs)
    if "sampling" in found:
        typer.echo()
        _show_sampling(found["criterion"], found["sampling"])
    print_notes(found["notes"])
    for path in found.get("output", []):
        typer.echo(f"wrote {path}")


def _show_sampling(criterion: str, rows: Sequence[dict[str, Any]]) -> None:
    print_table(
        ("samples", "rate, Hz", "duration, s", "periods", criterion, "per sample"),
        [
            (
                str(row["samples"]),
                f"{row['rate']:.4g}",
                f"{row['duration']:.4g}",
                "-" if row["periods"] is None else f"{row['periods']:.4g}",
                f"{row['value']:.4g}",
                f"{row['per_sample']:.4g}",
            )
            for row in rows
        ],
    )


def write_motion(
    found: DesignedMotion, output: Path | None, table: Path | None, rate: float | None
) -> list[str]:
    """Write the files that were requested, and return their names."""
    from mechid.trajectoryfile import save_trajectory, write_trajectory_table

    if output is not None:
        save_trajectory(found.trajectory, output)
    if table is not None:
        write_trajectory_table(table, found.trajectory, rate=rate)
    return [str(path) for path in (output, table) if path is not None]
