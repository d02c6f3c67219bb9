"""What `mechid base` says."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from mechid.cli.common import print_notes, print_pairs, print_table
from mechid.errors import MechidError

if TYPE_CHECKING:
    from mechid.base.analyse import BaseParameters
    from mechid.base.numeric import NumericBase
    from mechid.exact.field import FieldRank
    from mechid.kinematics.tables import Floats

_DIGITS = 6


def report(found: BaseParameters) -> dict[str, Any]:
    """Return everything that `base` says, ready for JSON."""
    from mechid.base.expressions import text

    chosen, bounds = found.chosen, found.bounds
    notes = [] if bounds is None else list(bounds.open_questions)
    if found.dependencies:
        notes.append(
            f"{len(found.dependencies)} dependencies that no transfer explains were found "
            "in ball arithmetic and taken into account; they are not proved to be exact"
        )
    quick = found.quick
    if quick is not None and not quick.reached:
        notes.append(
            f"{quick.upper} is an upper bound: {quick.rank} independent columns were found in "
            f"{quick.by}; --certify bounds the number from below"
        )
    return {
        "model": found.mechanism.name,
        "method": "transfer",
        "parameters": found.parameters,
        "without_effect": len(chosen.without_effect),
        "without_effect_names": list(chosen.without_effect),
        "base": chosen.rank,
        "upper_bound": chosen.rank if bounds is None else bounds.upper,
        "upper_bound_proved": bounds is not None and bounds.upper_proved,
        "lower_bound": None if bounds is None else bounds.lower,
        "lower_bound_proved": bounds is not None and bounds.closes,
        "seen": None if quick is None else {"rank": quick.rank, "by": quick.by},
        "certified": found.certified,
        "dependent": list(chosen.dependent),
        "expressions": {name: text(chosen, name) for name in chosen.base},
        "beta": {name: _rest(chosen.row(name), name) for name in chosen.base},
        "cad": _cad(found),
        "transfers": [
            {"words": t.words, "entries": {n: str(x) for n, x in t.entries}, "by_loops": t.by_loops}
            for t in found.null_space.transfers
        ],
        "dependencies": [
            {
                "coefficients": dict(zip(d.names, d.digits, strict=True)),
                "forms": {
                    n: str(f) for n, f in zip(d.names, d.forms, strict=True) if f is not None
                },
                "uncertainty": d.uncertainty,
            }
            for d in found.dependencies
        ],
        "experiment": {
            "hold": list(found.experiment.hold),
            "measure": None if found.experiment.measure is None else list(found.experiment.measure),
            "static": found.experiment.static,
            "gravity": list(found.experiment.gravity_of(found.mechanism)),
        },
        "notes": notes,
    }


def _rest(row: dict[str, float], name: str) -> dict[str, float]:
    """Return what a base parameter holds besides the parameter that heads it, in full digits."""
    return {n: x for n, x in row.items() if n != name}


def _cad(found: BaseParameters) -> dict[str, dict[str, float]] | None:
    """Return values and standard deviations from CAD, if every parameter has a value."""
    from mechid.base.cad import cad_values

    try:
        cad = cad_values(found.chosen)
    except MechidError:
        return None
    return {
        name: {"value": float(x), "sigma": float(s)}
        for name, x, s in zip(cad.names, cad.values, cad.sigma, strict=True)
    }


# s. Half of it is for drawing choices, half for comparing them.
CHOICES_SECONDS = 60.0


def choices_report(
    found: BaseParameters, W: Floats, n: int, seed: int, max_seconds: float | None = None
) -> dict[str, Any]:
    """Return how many choices there are, and random ones, the best conditioned first.

    As many of them as can be compared within a time, s.
    """
    from mechid.base.count import count_choices, ranked, sample_choices

    seconds = CHOICES_SECONDS if max_seconds is None else max_seconds
    begin = time.monotonic()

    def later_than(part: float) -> Callable[[], bool]:
        return lambda: time.monotonic() - begin > part * seconds

    null = found.null_space
    counted = count_choices(null, seed)
    drawn = sample_choices(null, n, seed, later_than(0.5))
    best = ranked(null, drawn, W, later_than(1.0))
    if len(best) < n and later_than(0.5)():
        typer.echo(
            f"note: {len(best)} of {n} choices were compared within {seconds:g} s; "
            "--max-seconds gives more time",
            err=True,
        )
    return {
        "count": counted.exact,
        "log10": counted.log10,
        "sampled": [
            {
                "condition": r.condition,
                "terms": r.terms,
                "dependent": list(r.base_set.dependent),
            }
            for r in best
        ],
    }


def numeric_report(model: str, found: NumericBase) -> dict[str, Any]:
    """Return what the numeric methods say, ready for JSON."""
    reading = found.reading
    spectrum = [float(x) for x in found.spectrum]
    notes = [reading.words]
    if found.turned:
        notes.append(
            "parameters of "
            + ", ".join(sorted(found.turned))
            + " refer to ground axes in the reference pose"
        )
    return {
        "model": model,
        "method": found.method,
        "precision": found.precision,
        "parameters": len(found.names),
        "without_effect": len(found.without_effect),
        "without_effect_names": list(found.without_effect),
        "base": found.rank,
        "upper_bound": None,
        "lower_bound": None,
        "certified": False,
        "dependent": list(found.dependent),
        "expressions": {
            name: _sum(name, found.dependent, row.tolist())
            for name, row in zip(found.base, found.beta, strict=True)
        },
        "beta": {
            name: dict(zip(found.dependent, row.tolist(), strict=True))
            for name, row in zip(found.base, found.beta, strict=True)
        },
        "cad": None,
        "spectrum": spectrum,
        "gap": found.gap,
        "confidence": found.confidence,
        "notes": notes,
    }


def field_report(model: str, found: FieldRank) -> dict[str, Any]:
    """Return what the rank over prime fields says, ready for JSON."""
    notes = [
        f"rank {', '.join(map(str, found.ranks))} modulo {', '.join(map(str, found.primes))}, on "
        f"{found.curves} curves to order {found.order}"
    ]
    if not found.exact:
        notes.append(
            "the model has no closed pose in exact numbers: the rank is that of a "
            f"mechanism whose lengths differ by rounding ({found.rounded[0]}, …)"
        )
    base = set(found.base)
    return {
        "model": model,
        "method": "exact",
        "parameters": len(found.names),
        "without_effect": None,
        "base": found.rank,
        "upper_bound": None,
        "lower_bound": found.rank if found.exact else None,
        "lower_bound_proved": found.exact,
        "certified": False,
        "dependent": [name for name in found.names if name not in base],
        "expressions": {name: name for name in found.base},
        "cad": None,
        "primes": list(found.primes),
        "notes": notes,
    }


def _sum(name: str, dependent: tuple[str, ...], factors: list[float]) -> str:
    """Write a base parameter as a sum, without factors that are rounding."""
    terms = [
        f"{'-' if x < 0 else '+'} {abs(x):.{_DIGITS}g}*{n}"
        for n, x in zip(dependent, factors, strict=True)
        if abs(x) > 1e-9
    ]
    return " ".join([name, *terms])


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


def _number(found: dict[str, Any]) -> str:
    """Say how many base parameters there are, and how far that is known."""
    base, seen, lower = found["base"], found.get("seen"), found["lower_bound"]
    if found["certified"] or lower == base:
        return str(base)
    if seen is not None:
        reached = seen["rank"] == base
        how = f"{seen['rank']} seen in {seen['by']}"
        return f"{base} ({how}; proof: --certify)" if reached else f"at most {base} ({how})"
    if found["upper_bound"] is None:
        return str(base)
    return f"at most {base}" if found["upper_bound_proved"] else f"{base} (not proved)"


def show(found: dict[str, Any]) -> None:
    """Print a report for people."""
    pairs = [
        ("model", found["model"]),
        ("parameters", str(found["parameters"])),
        ("without effect", _or_dash(found["without_effect"])),
        ("dependent", str(len(found["dependent"]))),
        ("base parameters", _number(found)),
    ]
    if found["lower_bound"] is not None:
        proved = "proved" if found["lower_bound_proved"] else "not proved"
        pairs.append(("lower bound", f"{found['lower_bound']} ({proved})"))
    print_pairs([*pairs, ("certified", "yes" if found["certified"] else "no")])
    rows = []
    for name, text in found["expressions"].items():
        cad = (found["cad"] or {}).get(name)
        value = "" if cad is None else f"{cad['value']:.5g}"
        sigma = "" if cad is None or not cad["sigma"] else f"{cad['sigma']:.2g}"
        rows.append([name, text, value, sigma])
    print_table(["base parameter", "is", "CAD value", "σ"], rows)
    print_notes(found["notes"])
    for path in found.get("output", []):
        typer.echo(f"wrote {path}")
