"""`mechid synthesise`: measurements with known truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.common import Force, Json, Model, print_json, print_notes, print_pairs
from mechid.cli.record_options import given, record_options
from mechid.options import SynthesiseOptions
from mechid.options.error_kinds import ERROR_KINDS
from mechid.outputs import check_outputs

if TYPE_CHECKING:
    from mechid.tasks.synthesise import Synthesis

_MACHINE = "What the machine has and its model lacks"
_SENSORS = "What sensors do, in this order"
_OPTIONS: Mapping[str, Any] = {
    "noise": typer.Option(
        "--noise",
        "--force-noise",
        help="Standard deviation of the force errors: 5% of each force; FORCE=12.5 (N or N m) or "
        "FORCE=5% for single forces; may be repeated.",
    ),
    "noise_kind": typer.Option(
        help="white: % of the root mean square of a force; proportional: of each sample; "
        "coloured: as white, correlated in time; gain: one constant factor per "
        "force."
    ),
    "correlation": typer.Option(help="Of neighbouring samples of coloured errors."),
    "time_constant": typer.Option(help="Of coloured errors instead, s."),
    "position_noise": typer.Option(
        help="White noise of positions: 1e-4 (m, rad), 0.1% of the motion, or "
        "COORDINATE=VALUE; may be repeated. Speeds and accelerations are then "
        "omitted."
    ),
    "positions_only": typer.Option("--positions-only", help="Omit speeds and accelerations."),
    "cad_error": typer.Option(
        help="Error of the CAD values, as 20%: the true parameters are drawn about them."
    ),
    "seed": typer.Option(help="Of everything random."),
    **{
        kind.name: typer.Option(
            help=kind.help, rich_help_panel=_MACHINE if kind.machine else _SENSORS
        )
        for kind in ERROR_KINDS
    },
    "stribeck_speed": typer.Option(
        help="v_s, as a share of the root mean square of a joint's speed.",
        rich_help_panel=_MACHINE,
    ),
    "friction_fade": typer.Option(
        help="Share by which friction in joints falls from the start of the log to its end; sizes "
        "are the means.",
        rich_help_panel=_MACHINE,
    ),
    "hysteresis_width": typer.Option(
        help="Travel in which hysteresis builds up, as a share of the standard deviation of a "
        "coordinate.",
        rich_help_panel=_MACHINE,
    ),
    "hum_frequency": typer.Option(help="Hz.", rich_help_panel=_SENSORS),
    "outlier_size": typer.Option(
        help="Standard deviation of outliers, as a multiple of the root mean square of a force.",
        rich_help_panel=_SENSORS,
    ),
    "units": typer.Option(
        help="Unit in which a channel is written although the table says SI, as q1=deg; may be "
        "repeated.",
        rich_help_panel=_SENSORS,
    ),
}


@record_options(SynthesiseOptions, _OPTIONS)
def synthesise(
    model: Model,
    trajectory: Annotated[
        Path,
        typer.Argument(
            metavar="TRAJECTORY", help="Trajectory (.yaml), or a motion as CSV or Parquet table."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Table to write: .csv or .parquet.")
    ],
    truth: Annotated[
        str | None,
        typer.Option(
            help="Truth of earlier data (DATA.truth.json), or a model whose CAD values are the "
            "truth, as sla_suspension@measured.",
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second of a trajectory.")] = None,
    periods: Annotated[float | None, typer.Option(help="Periods of the trajectory.")] = None,
    force: Force = False,
    json: Json = False,
    **words: Any,
) -> None:
    """Make measurements of a mechanism whose true parameters are known.

    The table has time, coordinates with speeds (.d) and accelerations (.dd), and forces; the truth
    stands beside it in OUTPUT.truth.json, where `mechid identify` finds it for comparison. Errors
    that real machines have can be combined, for all channels or for single ones:

    mechid synthesise five_bar motion.yaml -o log.csv --noise 1% --offset 5% --gain M1=10%
    """
    from mechid.runs.truth import truth_path
    from mechid.tables.files import table_suffix
    from mechid.tasks.synthesise import save_measurement
    from mechid.tasks.synthesise import synthesise as work

    table_suffix(output)
    check_outputs(output, truth_path(output), force=force, inputs=[model, trajectory, truth])
    made = work(model, trajectory, truth=truth, rate=rate, periods=periods, **given(**words))
    found = {
        "model": made.mechanism.name,
        "samples": len(made.time),
        "start": float(made.time[0]),
        "end": float(made.time[-1]),
        "forces": _forces(made),
        "errors": made.errors,
        "seed": made.options.seed,
        "notes": [*made.notes, *_notes(made)],
        "output": [str(path) for path in save_measurement(made, output)],
    }
    if json:
        print_json(found)
    else:
        _show(found)


def _forces(made: Synthesis) -> dict[str, Any]:
    import numpy as np

    return {
        name: {
            "rms": float(np.sqrt(np.mean(made.exact[:, i] ** 2))),
            "error": float(made.sigma[i]),
        }
        for i, name in enumerate(made.forces)
    }


def _notes(made: Synthesis) -> list[str]:
    if made.measured_rates or made.options.positions_only:
        return []
    return ["positions have errors: speeds and accelerations are omitted"]


def _show(found: dict[str, Any]) -> None:
    pairs = [
        ("model", found["model"]),
        ("samples", f"{found['samples']}, {found['start']:g} s to {found['end']:g} s"),
    ]
    pairs += [
        (name, f"rms {f['rms']:.4g}, of the errors {f['error']:.4g}")
        for name, f in found["forces"].items()
    ]
    pairs += [
        (kind, ", ".join(f"{name} {_value(value)}" for name, value in channels.items()))
        for kind, channels in found["errors"].items()
    ]
    print_pairs(pairs)
    print_notes(found["notes"])
    for path in found["output"]:
        typer.echo(f"wrote {path}")


def _value(value: Any) -> str:
    numbers = value if isinstance(value, list) else [value]
    text = ", ".join(f"{x:.4g}" for x in numbers)
    return f"({text})" if len(numbers) > 1 else text
