"""`mechid base`: how many parameters can be identified, and which."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mechid.cli.base_report import choices_report, field_report, numeric_report, report, show
from mechid.cli.common import (
    Force,
    Json,
    MaxSeconds,
    Model,
    load_model,
    print_json,
    solve_file,
)
from mechid.errors import MechidError
from mechid.outputs import check_outputs, write_text

if TYPE_CHECKING:
    from mechid.base.analyse import BaseParameters, Rule
    from mechid.base.experiment import Experiment
    from mechid.kinematics.model import KinematicModel
    from mechid.kinematics.motion import Motion


class Method(StrEnum):
    """How base parameters are found."""

    transfer = "transfer"
    exact = "exact"
    svd = "svd"
    qr = "qr"


class Precision(StrEnum):
    """Arithmetic of the numeric methods."""

    single = "single"
    double = "double"
    multi = "multi"


class RankBy(StrEnum):
    """What makes one choice of dependent parameters better than another."""

    balanced = "balanced"
    condition = "condition"
    terms = "terms"
    first = "first"
    last = "last"


class Gravity(StrEnum):
    """Whether weight takes part."""

    on = "on"
    off = "off"


def base(
    model: Model,
    method: Annotated[
        Method,
        typer.Option(
            help="Transfers of inertia; exact rank over a prime field; singular values or pivoted "
            "QR of the observation matrix."
        ),
    ] = Method.transfer,
    precision: Annotated[
        Precision | None,
        typer.Option(help="Arithmetic of svd and qr; double by default.", show_default=False),
    ] = None,
    gravity: Annotated[
        Gravity, typer.Option(help="off: as if the mechanism had no weight.")
    ] = Gravity.on,
    hold: Annotated[
        list[str] | None,
        typer.Option(help="Coordinate that is fixed; may be repeated.", show_default=False),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="Forces that are measured, with commas; all others are not."),
    ] = None,
    static: Annotated[bool, typer.Option("--static", help="Poses at rest only.")] = False,
    converge_on: Annotated[
        str | None, typer.Option(help="Bodies in which inertia gathers, with commas.")
    ] = None,
    dependent: Annotated[
        str | None,
        typer.Option(
            help="Dependent parameters, with commas, or the name of a set of the model file."
        ),
    ] = None,
    rank_by: Annotated[
        RankBy | None,
        typer.Option(
            help="Choose the last parameters that can be dependent, but avoid large factors "
            "(balanced, the default), the best conditioned on random motions, the fewest terms, or "
            "the first or last parameters."
        ),
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove the number, with ball arithmetic.")
    ] = False,
    certificate: Annotated[
        Path | None, typer.Option(help="Certificate to write (JSON); implies --certify.")
    ] = None,
    latex: Annotated[
        Path | None, typer.Option(help="LaTeX table of the base parameters to write.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Picture of the transfers to write: .png, .svg or .html.")
    ] = None,
    choices: Annotated[
        int,
        typer.Option(
            min=0,
            help="Count the valid choices, and compare so many random ones, within --max-seconds "
            "(60 s if it is not given).",
        ),
    ] = 0,
    motion: Annotated[
        Path | None,
        typer.Option(
            help="Count what this motion shows (CSV, Parquet or a trajectory .yaml), not what any "
            "can show."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of random states and choices.")] = 0,
    max_seconds: MaxSeconds = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Find the combinations of parameters that can be identified, in symbols.

    Transfers of inertia between the bodies say which parameters cannot be told apart; --certify
    proves that nothing else is lost. Restricted experiments (--hold, --measure, --static) see
    fewer; these are always counted in ball arithmetic.
    """
    check_outputs(certificate, latex, picture, force=force, inputs=[model, motion])
    _refuse_combinations(
        method,
        {
            "--hold": hold,
            "--static": static,
            "--measure": measure,
            "--gravity": gravity is Gravity.off,
            "--motion": motion,
            "--converge-on": converge_on,
            "--dependent": dependent,
            "--rank-by": rank_by,
            "--certify": certify,
            "--certificate": certificate,
            "--latex": latex,
            "--picture": picture,
            "--choices": choices,
            "--precision": precision,
        },
    )
    ready = load_model(model)
    experiment = _experiment(gravity, hold, measure, static)
    moved = None if motion is None else solve_file(ready, motion)[1]
    if method is Method.transfer:
        rule = base_rule(ready, converge_on, dependent, rank_by, seed)
        wanted = certify or certificate is not None
        found = _analysed(ready, experiment, rule, wanted, moved, seed, max_seconds)
        if certificate is not None and found.bounds is None:
            raise MechidError("the certificate is not complete", remedy="increase --max-seconds")
        result = report(found)
        if choices:
            from mechid.base.rules import observed

            result["choices"] = choices_report(
                found, observed(ready.mechanism, seed), choices, seed, max_seconds
            )
        result["output"] = _write(found, certificate, latex, picture)
    elif method is Method.exact:
        result = _field(ready, experiment, seed)
    else:
        arithmetic = precision or Precision.double
        result = _numeric(ready, experiment, method, arithmetic, moved, seed)
    if json:
        print_json(result)
    else:
        show(result)


def _experiment(
    gravity: Gravity, hold: list[str] | None, measure: str | None, static: bool
) -> Experiment:
    from mechid.base.experiment import NO_GRAVITY, Experiment

    forces = None if measure is None else tuple(_names(measure))
    weight = NO_GRAVITY if gravity is Gravity.off else None
    held = tuple(name for part in hold or [] for name in _names(part))
    return Experiment(held, forces, static, weight)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def base_rule(
    ready: KinematicModel,
    converge_on: str | None,
    dependent: str | None,
    rank_by: RankBy | None,
    seed: int,
) -> Rule:
    """Return the rule that options ask for."""
    from mechid.base.choose import as_listed
    from mechid.base.rules import DEFAULT, rule_of

    given = [x for x in (converge_on, dependent, rank_by) if x is not None]
    if len(given) > 1:
        raise MechidError(
            "--converge-on, --dependent and --rank-by exclude each other", remedy="use one of them"
        )
    mechanism = ready.mechanism
    if dependent is not None:
        named = {s.name: s.dependent for s in mechanism.base_sets}
        return partial(as_listed, names=named.get(dependent, _names(dependent)))
    return rule_of(mechanism, rank_by or DEFAULT, _names(converge_on or ""), seed)


_MOTION_SAMPLES = 500
_MULTI_SAMPLES = 60


def _analysed(
    ready: KinematicModel,
    experiment: Experiment,
    rule: Rule,
    certify: bool,
    moved: Motion | None,
    seed: int,
    max_seconds: float | None,
) -> BaseParameters:
    """Return the base parameters; without certificate, if the time does not suffice for it."""
    from mechid.base.analyse import base_parameters
    from mechid.cli.progress import interruptible, progress

    with interruptible(max_seconds) as interrupt, progress("poses enclosed", 1.0) as show:

        def watch(what: str, done: int, of: int) -> None:
            interrupt()
            show(done / of)

        analyse = partial(
            base_parameters, ready.mechanism, experiment, rule=rule, motion=moved, seed=seed
        )
        try:
            return analyse(certify=certify, watch=watch)
        except MechidError:
            if interrupt.pressed or not interrupt.asked:
                raise
    typer.echo("note: --max-seconds was too short for the certificate", err=True)
    return analyse(certify=False)


def _write(
    found: BaseParameters, certificate: Path | None, latex: Path | None, picture: Path | None
) -> list[str]:
    if certificate is not None:
        from mechid.base.certificate import certificate as certificate_of
        from mechid.base.certificate import write_certificate

        assert found.bounds is not None
        write_certificate(certificate, certificate_of(found.bounds))
    if latex is not None:
        from mechid.base.expressions import latex_table

        write_text(latex, latex_table(found.chosen))
    if picture is not None:
        from mechid.base.nullspace import independent
        from mechid.plots.transfers import save_transfers

        null = found.null_space
        save_transfers(picture, found.mechanism, independent(null.geometry, null.transfers))
    return [str(path) for path in (certificate, latex, picture) if path is not None]


_WITH_TRANSFERS = (
    "--converge-on",
    "--dependent",
    "--rank-by",
    "--certify",
    "--certificate",
    "--latex",
    "--picture",
    "--choices",
    "--measure",
)
# What each method cannot do; options that exclude each other whatever the method.
_NOT_WITH: dict[Method, tuple[str, ...]] = {
    Method.transfer: ("--precision",),
    Method.exact: (*_WITH_TRANSFERS, "--motion", "--hold", "--static", "--precision"),
    Method.svd: (*_WITH_TRANSFERS, "--gravity"),
    Method.qr: (*_WITH_TRANSFERS, "--gravity"),
}
_APART = (("--motion", "--hold"), ("--motion", "--static"))


def _refuse_combinations(method: Method, options: dict[str, object]) -> None:
    """Reject options that cannot be combined, before anything is computed."""
    given = [name for name, value in options.items() if value]
    for name in given:
        if name in _NOT_WITH[method]:
            raise MechidError(
                f"{name} does not go with --method {method.value}",
                remedy=f"omit {name}, or choose another method",
            )
    for a, b in _APART:
        if a in given and b in given:
            raise MechidError(f"{a} and {b} exclude each other", remedy="omit one of them")


def _numeric(
    ready: KinematicModel,
    experiment: Experiment,
    method: Method,
    precision: Precision,
    moved: Motion | None,
    seed: int,
) -> dict[str, Any]:
    from mechid.base.experiment import checked, random_states
    from mechid.base.numeric import observed_base
    from mechid.exact.numbers import PRECISION

    mechanism = ready.mechanism
    if moved is None:
        n = _MULTI_SAMPLES if precision is Precision.multi else _MOTION_SAMPLES
        moved = random_states(mechanism, checked(experiment, mechanism), n, seed, wide=False)
    bits: Literal["single", "double"] | int = PRECISION
    if precision is not Precision.multi:
        bits = "single" if precision is Precision.single else "double"
    chosen: Literal["svd", "qr"] = "svd" if method is Method.svd else "qr"
    return numeric_report(mechanism.name, observed_base(moved, method=chosen, precision=bits))


def _field(ready: KinematicModel, experiment: Experiment, seed: int) -> dict[str, Any]:
    """Count over prime fields; nearby where no closed pose is known in exact numbers."""
    from mechid.exact.field import field_rank

    found = field_rank(ready.mechanism, experiment.gravity, seed=seed, nearby=True)
    return field_report(ready.mechanism.name, found)
