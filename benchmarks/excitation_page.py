"""The page of the study of excitation: tables, and the words around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from excitation_cases import FINER, FREQUENCY, HARMONICS, MEASURES, SAMPLES, Size
from excitation_ranking import (
    DESIGNED,
    ERRORS,
    LIKE,
    OWN,
    TARGETS,
    TRUTHS,
    VALIDATION,
    Design,
    Ranking,
)
from excitation_sets import ENTRY_ERRORS, PUBLISHED, ROUNDED, Designed, Random
from report import table

TEXT = Path(__file__).with_name("excitation_study.md")


@dataclass(frozen=True, eq=False)
class Study:
    """Everything that the page says."""

    size: Size
    suspension: Ranking
    five_bar: Ranking
    sets: dict[str, tuple[Random, Designed]]
    others: dict[str, tuple[Random, Designed]]
    rounding: list[tuple[str, list[float]]]

    @property
    def rankings(self) -> tuple[Ranking, Ranking]:
        """Of both mechanisms."""
        return self.suspension, self.five_bar

    @property
    def all_designs(self) -> list[Design]:
        """Designs for all criteria."""
        return [d for r in self.rankings for designs in r.designs.values() for d in designs]

    @property
    def least(self) -> float:
        """The least slack of any limit along any design, on a fine grid."""
        pairs = [*self.sets.values(), *self.others.values()]
        return min(*(d.least for d in self.all_designs), *(d.least for _, d in pairs))


def number(x: float) -> str:
    """Return a number with three digits."""
    return f"{x:.3g}" if 0.01 <= abs(x) < 1e4 else f"{x:.2e}"


def spread(values: Iterable[float]) -> str:
    """Return the median and the range of some values."""
    v = np.array(list(values))
    if len(v) == 1:
        return number(float(v[0]))
    return f"{number(float(np.median(v)))} ({number(v.min())} to {number(v.max())})"


def span(values: Iterable[float]) -> str:
    """Return the range of some values."""
    v = list(values)
    return f"{min(v):.2g}" if min(v) == max(v) else f"{min(v):.2g} to {max(v):.2g}"


def sets_text(s: Study) -> str:
    """Return the table of base sets."""
    cells = [
        [
            name,
            f"{PUBLISHED[name]:.2e}",
            spread(made.raw),
            number(min(drawn.raw)),
            spread(made.equilibrated),
            number(min(drawn.equilibrated)),
            number(float(np.median(drawn.equilibrated))),
            span(made.seen),
            span(made.error),
        ]
        for name, (drawn, made) in s.sets.items()
    ]
    cells.append(["T5", f"{PUBLISHED['T5']:.2e}", "no valid choice", *["-"] * 6])
    head = (
        "set",
        "published κ, raw",
        "raw, designed",
        "raw, best random",
        "equilibrated, designed",
        "best random",
        "median random",
        "directions seen, of 83",
        "rounding of σ_min",
    )
    return table(head, cells)


def gains_text(r: Ranking, size: Size) -> str:
    """Return the table of gains."""
    cells = [
        [
            name,
            number(float(np.median(r.drawn.values[name]))),
            number(float(r.drawn.values[name].min())),
            spread(d.value for d in r.designs[name]),
            number(r.gain(name, lambda v: float(np.median(v)))),
            number(r.gain(name, min)),
        ]
        for name in DESIGNED
    ]
    best = f"best of {size.random} random"
    return table(
        ("criterion", "median random", best, "designed", "gain, median", "gain, best"), cells
    )


def ranks_text(r: Ranking) -> str:
    """Return the table of rank correlations."""
    cells = [
        [name, *(f"{r.drawn.correlation(name, error):+.2f}" for error in ERRORS)]
        for name in (*MEASURES, LIKE, *OWN)
    ]
    return table(("criterion", *ERRORS.values()), cells)


def errors_text(r: Ranking) -> str:
    """Return the table of prediction errors, in percent."""

    def row(name: str, pick: Callable[[str], float]) -> list[str]:
        return [name, *(number(100 * pick(error)) for error in ERRORS)]

    errors = r.drawn.errors
    cells = [
        row("random motions, median", lambda e: float(np.median(errors[e]))),
        row("random motions, best", lambda e: float(errors[e].min())),
        row("CAD values, nothing identified", lambda e: float(errors["CAD"][0])),
    ]
    for name, found in r.designs.items():
        cells.append(row(f"designed for {name}", partial(_median_error, found)))
    return table(("motion", *ERRORS.values()), cells)


def _median_error(found: Sequence[Design], error: str) -> float:
    return float(np.median([d.errors[error] for d in found]))


def others_text(s: Study) -> str:
    """Return the table of other mechanisms."""
    cells = [
        [
            f"`{spec}`",
            str(made.parameters),
            span(made.seen),
            number(float(np.median(drawn.equilibrated))),
            number(min(drawn.equilibrated)),
            spread(made.equilibrated),
            number(min(drawn.equilibrated) / float(np.median(made.equilibrated))),
            number(min(drawn.equilibrated) / min(made.equilibrated)),
            number(min(drawn.raw)),
            spread(made.raw),
        ]
        for spec, (drawn, made) in s.others.items()
    ]
    head = (
        "model",
        "base parameters",
        "seen",
        "median random",
        "best random",
        "designed",
        "gain, median",
        "gain, best",
        "raw, best random",
        "raw, designed",
    )
    return table(head, cells)


def conclusions(s: Study) -> str:
    """Return what the tables say of the criteria."""
    laws = (("the same for all motions", "prior fixed"), ("5 % of each force", "prior own"))
    return "\n".join(
        f"- With prior, noise {law}: " + "; ".join(r.of_criteria(error) for r in s.rankings) + "."
        for law, error in laws
    )


def gain_words(s: Study) -> str:
    """Return which criteria gain least and most, and how much seeds differ."""
    parts = []
    for r in s.rankings:
        gains = {name: r.gain(name, lambda v: float(np.median(v))) for name in DESIGNED}
        low, high = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
        parts.append(
            f"on `{r.spec}` from {number(gains[low])} ({low}) to {number(gains[high])} ({high})"
        )
    return f"Median gains go {', and '.join(parts)}. Where seeds differ much, several starts pay."


def error_words(s: Study) -> str:
    """Return what designs do for the prediction error, in words."""
    lines = []
    for r in s.rankings:
        for error in ("prior own", "prior fixed"):
            of = {name: 100 * _median_error(r.designs[name], error) for name in DESIGNED}
            best = min(of, key=of.__getitem__)
            middle = 100 * float(np.median(r.drawn.errors[error]))
            lines.append(
                f"- `{r.spec}`, {ERRORS[error]}: random motions {number(middle)} % (median), "
                f"designed for `d` {number(of['d'])} %, for {OWN[0]} {number(of[OWN[0]])} %; "
                f"best for {best}, {number(of[best])} %."
            )
    plain = []
    for r in s.rankings:
        middle = 100 * float(np.median(r.drawn.errors["plain fixed"]))
        least = min(100 * _median_error(r.designs[name], "plain fixed") for name in DESIGNED)
        plain.append(f"on `{r.spec}` {number(middle)} %, the best designs {number(least)} %")
    lines.append(
        f"- Least squares {ERRORS['plain fixed']}: random motions (median) {'; '.join(plain)}."
    )
    return "What designs do for E_p:\n\n" + "\n".join(lines)


def page(s: Study) -> str:
    """Return the page."""
    size, e = s.size, s.size.effort
    designed = [made for _, made in s.sets.values()]
    random_seen = [n for drawn, _ in s.sets.values() for n in drawn.seen]
    return TEXT.read_text(encoding="utf-8").format(
        frequency=FREQUENCY,
        harmonics=HARMONICS,
        samples=SAMPLES,
        finer=FINER,
        n=size.random,
        ranked=size.ranked,
        set_seeds=size.set_seeds,
        seeds=size.seeds,
        effort=f"{e.random} random motions, {e.starts} start, at most {e.iterations} steps",
        evaluations=max(d.evaluations for d in s.all_designs),
        least="keep all limits"
        if s.least >= 0
        else f"break no limit by more than {-s.least:.1g} of its range",
        sets=sets_text(s),
        whole=sum(n == 83 for made in designed for n in made.seen),
        designs=sum(len(made.seen) for made in designed),
        random_whole=f"{100 * np.mean(np.array(random_seen) == 83):.0f}",
        lowest=number(min(min(made.equilibrated) for made in designed)),
        set_gains=span(
            min(drawn.equilibrated) / float(np.median(made.equilibrated))
            for drawn, made in s.sets.values()
        ),
        published=f"{min(PUBLISHED.values()):.2g} to {max(PUBLISHED[n] for n in s.sets):.2g}",
        gain_words=gain_words(s),
        error_words=error_words(s),
        arm=span(s.others["puma560@bare"][1].equilibrated),
        limit=number(1 / float(np.finfo(float).eps)),
        rounding=table(
            ("wheels", *(f"{x:g}" if x else "none" for x in ENTRY_ERRORS)),
            [[words, *(number(x) for x in values)] for words, values in s.rounding],
        ),
        rounded=ROUNDED,
        gains=gains_text(s.suspension, size),
        five_gains=gains_text(s.five_bar, size),
        truths=TRUTHS,
        validation=VALIDATION,
        targets=TARGETS,
        scatter=f"{s.suspension.drawn.scatter:.2f}",
        ranks=ranks_text(s.suspension),
        five_ranks=ranks_text(s.five_bar),
        errors=errors_text(s.suspension),
        five_errors=errors_text(s.five_bar),
        found=conclusions(s),
        others=others_text(s),
    )
