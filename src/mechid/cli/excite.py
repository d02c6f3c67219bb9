"""`mechid excite`: design a motion that shows the parameters, or judge one."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.base import base_rule
from mechid.cli.common import Json, Model, load_model, print_json, print_notes, print_pairs
from mechid.errors import DataError, KinematicsError

if TYPE_CHECKING:
    from mechid.excitation.bounds import MotionLimit
    from mechid.excitation.families import Family
    from mechid.kinematics.model import KinematicModel
    from mechid.tasks.excite import DesignedMotion, Plan

# What people write for the criteria.
_ALIASES = {"cond": "condition-equilibrated", "cond-raw": "condition", "i": "prediction"}


class FamilyName(StrEnum):
    """Kinds of motion."""

    fourier = "fourier"
    bspline = "bspline"


def excite(
    model: Model,
    family: Annotated[FamilyName, typer.Option(help="Kind of motion.")] = FamilyName.fourier,
    harmonics: Annotated[int, typer.Option(min=1, help="Of a Fourier series.")] = 5,
    frequency: Annotated[float, typer.Option(help="Base frequency, Hz.")] = 1.0,
    samples: Annotated[int | None, typer.Option(min=4, help="Per period.")] = None,
    criterion: Annotated[
        str,
        typer.Option(
            help="prediction (default), a, d, e, cond (of the equilibrated matrix), cond-raw, "
            "mixture."
        ),
    ] = "prediction",
    goal: Annotated[
        list[str] | None,
        typer.Option(
            help="CRITERION=VALUE to be reached; repeated, the worst missed one counts.",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[float, typer.Option(help="Force noise relative to the forces.")] = 0.05,
    prior: Annotated[
        bool, typer.Option(help="Whether CAD values count as known, with their deviations.")
    ] = True,
    rest: Annotated[bool, typer.Option("--rest", help="Start and end at rest.")] = False,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            help="Given motion, NAME=EXPRESSION of t; may be repeated.", show_default=False
        ),
    ] = None,
    limits: Annotated[
        Path | None, typer.Option(help="YAML file with limits; default: about the home pose.")
    ] = None,
    converge_on: Annotated[str | None, typer.Option(help="As for `mechid base`.")] = None,
    dependent: Annotated[str | None, typer.Option(help="As for `mechid base`.")] = None,
    random: Annotated[int, typer.Option(min=1, help="Random motions tried first.")] = 200,
    starts: Annotated[int, typer.Option(min=0, help="Of the best, how many are improved.")] = 2,
    iterations: Annotated[int, typer.Option(min=1, help="Steps for each of them.")] = 60,
    max_seconds: Annotated[
        float | None, typer.Option(help="Stop then with the best so far.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random motions.")] = 0,
    start: Annotated[Path | None, typer.Option(help="Trajectory file to go on from.")] = None,
    evaluate: Annotated[
        Path | None, typer.Option(help="Judge this trajectory file instead of designing one.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Trajectory file to write, .yaml.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Table for a controller or a shaker: .csv or .parquet.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second of that table.")] = None,
    json: Json = False,
) -> None:
    """Design a motion within limits that makes the base parameters as visible as it can.

    Random motions come first, then gradient steps from the best of them. Ctrl-C ends with the best
    so far. Limits are those of the file, or those of the joints and a neighbourhood of the home
    pose; a motion that does not close is never returned.
    """
    from mechid.tasks.excite import Plan

    if evaluate is not None and (start is not None or fix):
        raise DataError(
            "a motion that is judged is given as a whole", remedy="leave out --start and --fix"
        )
    _check(evaluate, output, table, rate, max_seconds)
    ready = load_model(model)
    plan = Plan(
        family=family.value,
        harmonics=harmonics,
        frequency=frequency,
        samples=samples,
        criterion="goals" if goal else _ALIASES.get(criterion, criterion),
        noise=noise,
        prior=prior,
        rest=rest,
        fixed=_fixed(fix),
        goals=_goals(goal),
    )
    rule = base_rule(ready, converge_on, dependent, None, seed)
    given = _limits(limits, ready)
    if evaluate is not None:
        result = _judged(ready, plan, evaluate, given, rule)
    else:
        from mechid.excitation.optimise import Effort

        seconds = float("inf") if max_seconds is None else max_seconds
        effort = Effort(random, starts, iterations, seconds)
        designed = _designed(ready, plan, given, rule, effort, seed, start)
        result = report(designed)
        result["output"] = _write(designed, output, table, rate)
    if json:
        print_json(result)
    else:
        _show(result)


def _check(
    evaluate: Path | None,
    output: Path | None,
    table: Path | None,
    rate: float | None,
    max_seconds: float | None,
) -> None:
    """Refuse what would only be noticed after the work is done."""
    from mechid.tables.files import SUFFIXES
    from mechid.trajectoryfile.api import YAML_SUFFIXES

    for path, suffixes in ((output, YAML_SUFFIXES), (table, SUFFIXES)):
        if path is None:
            continue
        if evaluate is not None:
            raise DataError(
                "a motion that is judged is not written",
                where=str(path),
                remedy="leave out --evaluate, or --output and --table",
            )
        if path.suffix.lower() not in suffixes:
            raise DataError(
                f"the ending {path.suffix or '(none)'} does not say how the file is stored",
                where=str(path),
                remedy=f"use {' or '.join(suffixes)}",
            )
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise DataError(
                "cannot write the file: there is no such folder, or it is one", where=str(path)
            )
    if rate is not None and table is None:
        raise DataError("--rate is that of a table", remedy="add --table FILE")
    for name, value in (("--rate", rate), ("--max-seconds", max_seconds)):
        if value is not None and not value > 0:
            raise DataError(f"{name} is {value:g}", remedy="give a positive number")


def _without_prior(criteria: dict[str, float]) -> list[str]:
    if "prediction" in criteria:
        return []
    return ["the model gives no uncertainties: add --no-prior to see the other criteria"]


def _goals(goal: list[str] | None) -> dict[str, float]:
    found = {}
    for text in goal or []:
        name, _, value = text.partition("=")
        try:
            found[_ALIASES.get(name.strip(), name.strip())] = float(value)
        except ValueError:
            raise DataError(
                f'"{text}" is no goal', remedy="write CRITERION=VALUE, as prediction=0.01"
            ) from None
    return found


def _fixed(fix: list[str] | None) -> dict[str, Family]:
    from mechid.trajectoryfile import Expression

    found: dict[str, Family] = {}
    for text in fix or []:
        name, equals, formula = text.partition("=")
        if not equals:
            raise DataError(f'"{text}" gives no motion', remedy="write NAME=EXPRESSION, as z=0.1*t")
        if name.strip() in found:
            raise DataError(f"the motion of {name.strip()} is given twice")
        found[name.strip()] = Expression(formula.strip())
    return found


def _limits(path: Path | None, ready: KinematicModel) -> tuple[MotionLimit, ...] | None:
    """Return the limits of a file; what is wrong with them names the file."""
    from mechid.excitation.bounds import check_limits
    from mechid.trajectoryfile.limits import read_limits

    if path is None:
        return None
    found = read_limits(path)
    try:
        check_limits(found, ready.mechanism)
    except DataError as error:
        raise error.located(str(path)) from None
    return found


def _judged(
    ready: KinematicModel,
    plan: Plan,
    path: Path,
    limits: tuple[MotionLimit, ...] | None,
    rule: Any,
) -> dict[str, Any]:
    """Return what `excite --evaluate` says, ready for JSON."""
    from mechid.tasks.excite import judge_motion, tightest_limit
    from mechid.trajectoryfile import load_trajectory

    trajectory = replace(load_trajectory(path), name=str(path))
    try:
        found = judge_motion(ready.mechanism, trajectory, plan, rule=rule)
    except KinematicsError as error:
        raise error.located(str(path)) from None
    result: dict[str, Any] = {"model": ready.mechanism.name, "criteria": found}
    if limits is not None:
        slack, words = tightest_limit(ready.mechanism, trajectory, plan, limits)
        result |= {"slack": slack, "tightest_limit": words}
    return {**result, "notes": _without_prior(found)}


def _designed(
    ready: KinematicModel,
    plan: Plan,
    limits: tuple[MotionLimit, ...] | None,
    rule: Any,
    effort: Any,
    seed: int,
    start: Path | None,
) -> DesignedMotion:
    from mechid.cli.progress import interruptible, progress
    from mechid.tasks.excite import design_motion
    from mechid.trajectoryfile import load_trajectory

    begun = None if start is None else replace(load_trajectory(start), name=str(start))
    total = effort.random + effort.starts * effort.iterations
    with interruptible() as interrupt, progress("designing", total) as show:
        done = 0

        def watch(stage: str, step: int, best: float) -> None:
            nonlocal done
            done += 1
            show(done)

        return design_motion(
            ready.mechanism,
            plan,
            limits=limits,
            rule=rule,
            effort=effort,
            seed=seed,
            start=begun,
            watch=watch,
            stop=lambda: interrupt.asked,
        )


def report(found: DesignedMotion) -> dict[str, Any]:
    """Return everything that `excite` says, ready for JSON."""
    import numpy as np

    e = found.excitation
    values = e.random_values
    notes = [] if e.complete else ["stopped before the end; this is the best so far"]
    notes += _without_prior(found.criteria)
    return {
        "model": found.mechanism.name,
        "criterion": found.plan.criterion,
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
        "limits": [limit.words for limit in found.limits],
        "base_parameters": found.base.rank,
        "coefficients": {
            name: [float(x) for x in family.coefficients]
            for name, family in zip(e.trajectory.names, e.trajectory.families, strict=True)
        },
        "notes": notes,
    }


def _write(
    found: DesignedMotion, output: Path | None, table: Path | None, rate: float | None
) -> list[str]:
    from mechid.trajectoryfile import save_trajectory, write_trajectory_table

    if output is not None:
        save_trajectory(found.excitation.trajectory, output)
    if table is not None:
        write_trajectory_table(table, found.excitation.trajectory, rate=rate)
    return [str(path) for path in (output, table) if path is not None]


def _random_words(found: dict[str, Any]) -> str:
    if not found["random_motions"]:
        return "0"
    best, median = found["best_random"], found["median_random"]
    return f"{found['random_motions']}; best {best:.4g}, median {median:.4g}"


def _tightest_words(found: dict[str, Any]) -> str:
    if not found["tightest_limit"]:
        return "none"
    word = "broken by" if found["slack"] < 0 else "slack"
    return f"{found['tightest_limit']} ({word} {abs(found['slack']):.2g})"


def _show(found: dict[str, Any]) -> None:
    pairs = [("model", str(found["model"]))]
    if "value" in found:
        pairs += [
            ("criterion", f"{found['criterion']}: {found['value']:.4g}"),
            ("random motions", _random_words(found)),
            ("evaluations", f"{found['evaluations']} in {found['seconds']:.1f} s"),
        ]
    if "slack" in found:
        pairs.append(("tightest limit", _tightest_words(found)))
    pairs += [(name, f"{value:.4g}") for name, value in found["criteria"].items()]
    print_pairs(pairs)
    print_notes(found["notes"])
    for path in found.get("output", []):
        typer.echo(f"wrote {path}")
