"""`mechid excite`: design a motion that shows the parameters, or judge one."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.base import base_rule
from mechid.cli.common import Json, Model, load_model, print_json
from mechid.cli.excite_input import (
    check_files,
    criterion_name,
    fixed_of,
    goals_of,
    limits_of,
)
from mechid.cli.excite_report import (
    report,
    sampling_report,
    show,
    without_prior,
    write_motion,
)
from mechid.errors import DataError, KinematicsError

if TYPE_CHECKING:
    from mechid.excitation.bounds import MotionLimit
    from mechid.kinematics.model import KinematicModel
    from mechid.tasks.excite import DesignedMotion
    from mechid.tasks.plan import Plan


class NoiseName(StrEnum):
    """Forces that noise is relative to."""

    usual = "usual"
    motion = "motion"


class FamilyName(StrEnum):
    """Kinds of motion."""

    fourier = "fourier"
    bspline = "bspline"


_DESIGN = "What is designed"
_JUDGE = "What a good motion is"
_SEARCH = "How long to search"
_FILES = "Files"


def excite(
    model: Model,
    family: Annotated[
        FamilyName, typer.Option(help="Kind of motion.", rich_help_panel=_DESIGN)
    ] = FamilyName.fourier,
    harmonics: Annotated[
        int,
        typer.Option(
            min=1,
            help="N of a Fourier series; a spline has 2 N + 1 values.",
            rich_help_panel=_DESIGN,
        ),
    ] = 5,
    frequency: Annotated[
        float,
        typer.Option(
            help="Base frequency, Hz: the motion lasts one period.", rich_help_panel=_DESIGN
        ),
    ] = 1.0,
    samples: Annotated[
        int | None,
        typer.Option(
            min=4,
            help="Per period; default: 12 per period of the highest harmonic.",
            rich_help_panel=_DESIGN,
        ),
    ] = None,
    rest: Annotated[
        bool, typer.Option("--rest", help="Start and end at rest.", rich_help_panel=_DESIGN)
    ] = False,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            help="Given motion, NAME=EXPRESSION of t; may be repeated.",
            show_default=False,
            rich_help_panel=_DESIGN,
        ),
    ] = None,
    limits: Annotated[
        Path | None,
        typer.Option(
            help="YAML file with limits; default: those of the joints, and about the home pose.",
            rich_help_panel=_DESIGN,
        ),
    ] = None,
    criterion: Annotated[
        str,
        typer.Option(
            help="d, prediction, a, e, cond (of the equilibrated matrix), cond-raw, mixture.",
            rich_help_panel=_JUDGE,
        ),
    ] = "d",
    goal: Annotated[
        list[str] | None,
        typer.Option(
            help="CRITERION=VALUE to be reached; repeated, the worst missed one counts.",
            show_default=False,
            rich_help_panel=_JUDGE,
        ),
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(
            help="Base parameters that are wanted, A,B,…; the others are estimated along.",
            rich_help_panel=_JUDGE,
        ),
    ] = None,
    noise: Annotated[
        float, typer.Option(help="Force noise relative to the forces.", rich_help_panel=_JUDGE)
    ] = 0.05,
    noise_of: Annotated[
        NoiseName,
        typer.Option(
            help="Which forces: those of the motion itself, or those usual for the mechanism.",
            rich_help_panel=_JUDGE,
        ),
    ] = NoiseName.motion,
    prior: Annotated[
        bool,
        typer.Option(
            help="Whether CAD values count as known, with their deviations.", rich_help_panel=_JUDGE
        ),
    ] = True,
    converge_on: Annotated[
        str | None, typer.Option(help="As for `mechid base`.", rich_help_panel=_JUDGE)
    ] = None,
    dependent: Annotated[
        str | None, typer.Option(help="As for `mechid base`.", rich_help_panel=_JUDGE)
    ] = None,
    random: Annotated[
        int, typer.Option(min=1, help="Random motions tried first.", rich_help_panel=_SEARCH)
    ] = 200,
    starts: Annotated[
        int,
        typer.Option(min=0, help="Of the best, how many are improved.", rich_help_panel=_SEARCH),
    ] = 2,
    iterations: Annotated[
        int, typer.Option(min=1, help="Steps for each of them.", rich_help_panel=_SEARCH)
    ] = 60,
    max_seconds: Annotated[
        float | None, typer.Option(help="Stop then with the best so far.", rich_help_panel=_SEARCH)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random motions.", rich_help_panel=_SEARCH)] = 0,
    start: Annotated[
        Path | None, typer.Option(help="Trajectory file to go on from.", rich_help_panel=_SEARCH)
    ] = None,
    evaluate: Annotated[
        Path | None,
        typer.Option(
            help="Judge this trajectory file instead of designing one.", rich_help_panel=_FILES
        ),
    ] = None,
    sampling: Annotated[
        bool,
        typer.Option(
            "--sampling",
            help="With --evaluate: how the criterion changes with samples and periods.",
            rich_help_panel=_FILES,
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Trajectory file to write, .yaml.", rich_help_panel=_FILES
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="Table for a controller or a shaker: .csv or .parquet.", rich_help_panel=_FILES
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Samples per second of that table.", rich_help_panel=_FILES),
    ] = None,
    json: Json = False,
) -> None:
    """Design a motion within limits that makes the base parameters as visible as it can.

    Random motions come first, then gradient steps from the best of them. Ctrl-C ends with the best
    so far. Limits are those of the file, or those of the joints and a neighbourhood of the home
    pose; a motion that does not close is never returned.
    """  # fmt: skip
    from mechid.tasks.plan import Plan

    if evaluate is not None and (start is not None or fix):
        raise DataError(
            "a motion that is judged is given as a whole", remedy="leave out --start and --fix"
        )
    if sampling and evaluate is None:
        raise DataError("--sampling is about a given motion", remedy="add --evaluate FILE")
    check_files(evaluate, output, table, rate, max_seconds)
    wanted = tuple(name.strip() for name in parameters.split(",")) if parameters else ()
    ready = load_model(model)
    plan = Plan(
        family=family.value,
        harmonics=harmonics,
        frequency=frequency,
        samples=samples,
        criterion="goals" if goal else criterion_name(criterion),
        noise=noise,
        noise_of=noise_of.value,
        prior=prior,
        rest=rest,
        fixed=fixed_of(fix),
        goals=goals_of(goal),
        parameters=wanted,
    )
    rule = base_rule(ready, converge_on, dependent, None, seed)
    given = limits_of(limits, ready)
    if evaluate is not None:
        result = _judged(ready, plan, evaluate, given, rule, sampling)
    else:
        from mechid.excitation.optimise import Effort

        seconds = float("inf") if max_seconds is None else max_seconds
        effort = Effort(random, starts, iterations, seconds)
        designed = _designed(ready, plan, given, rule, effort, seed, start)
        result = report(designed)
        result["output"] = write_motion(designed, output, table, rate)
    if json:
        print_json(result)
    else:
        show(result)


def _judged(
    ready: KinematicModel,
    plan: Plan,
    path: Path,
    limits: tuple[MotionLimit, ...] | None,
    rule: Any,
    sampling: bool,
) -> dict[str, Any]:
    """Return what `excite --evaluate` says, ready for JSON."""
    from mechid.tasks.evaluate_motion import evaluate_motion, sampling_of_motion, tightest_limit
    from mechid.trajectoryfile import load_trajectory

    trajectory = replace(load_trajectory(path), name=str(path))
    try:
        found = evaluate_motion(ready.mechanism, trajectory, plan, rule=rule)
    except KinematicsError as error:
        raise error.located(str(path)) from None
    result: dict[str, Any] = {"model": ready.mechanism.name, "criteria": found}
    if limits is not None:
        slack, words = tightest_limit(ready.mechanism, trajectory, plan, limits)
        result |= {"slack": slack, "tightest_limit": words}
    if sampling:
        rows = sampling_of_motion(ready.mechanism, trajectory, plan, rule=rule)
        result |= {"criterion": plan.criterion, "sampling": sampling_report(rows)}
    return {**result, "notes": without_prior(found)}


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
