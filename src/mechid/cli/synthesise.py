"""`mechid synthesise`: measurements with known truth."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechid.cli.common import Json, Model, load_model, print_json, print_notes, print_pairs
from mechid.cli.parse_values import named, number, share
from mechid.errors import DataError, KinematicsError

if TYPE_CHECKING:
    from mechid.mechanism.records import Mechanism
    from mechid.runs.truth import Truth
    from mechid.tables.motion import MotionTable
    from mechid.tasks.synthesise import Errors, Level, Synthesis


class Kind(StrEnum):
    """Laws of force errors."""

    white = "white"
    proportional = "proportional"
    coloured = "coloured"
    gain = "gain"


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
    force_noise: Annotated[
        str, typer.Option(help="Deviation of the force errors, in % of each force.")
    ] = "0%",
    noise_kind: Annotated[
        Kind,
        typer.Option(
            help="white: % of the root mean square of a force; proportional: of each sample; "
            "coloured: as white, with memory; gain: one constant factor per force."
        ),
    ] = Kind.white,
    channel_noise: Annotated[
        list[str] | None,
        typer.Option(
            help="FORCE=12.5 (N or N m) or FORCE=5% for single forces; may be repeated.",
            show_default=False,
        ),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(help="Of neighbouring samples of coloured errors.", show_default="0.9"),
    ] = None,
    time_constant: Annotated[
        float | None, typer.Option(help="Of coloured errors instead, s.")
    ] = None,
    position_noise: Annotated[
        list[str] | None,
        typer.Option(
            help="White noise of positions: 1e-4 (m, rad), 0.1% of the motion, or "
            "COORDINATE=VALUE; may be repeated. Speeds and accelerations are then left out.",
            show_default=False,
        ),
    ] = None,
    cad_error: Annotated[
        str, typer.Option(help="Error of the CAD values: truth is drawn about them.")
    ] = "0%",
    truth: Annotated[
        str | None,
        typer.Option(
            help="Truth of earlier data (DATA.truth.json), or a model whose CAD values are the "
            "truth, as sla_suspension@measured.",
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second of a trajectory.")] = None,
    periods: Annotated[
        float | None, typer.Option(help="Periods of a trajectory to go through.")
    ] = None,
    positions_only: Annotated[
        bool, typer.Option("--positions-only", help="Leave speeds and accelerations out.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the table if it exists.")] = False,
    json: Json = False,
) -> None:
    """Make measurements of a mechanism whose true parameters are known.

    The table has time, coordinates with speeds (.d) and accelerations (.dd), and forces; the truth
    stands beside it in OUTPUT.truth.json, where `mechid identify` finds it for comparison.
    """
    from mechid.tables.files import table_suffix
    from mechid.tasks.synthesise import synthesise as make

    table_suffix(output)
    if output.exists() and not force:
        raise DataError("the file exists", where=str(output), remedy="add --force to replace it")
    ready = load_model(model)
    errors = _errors(
        ready.mechanism,
        noise_kind,
        force_noise,
        channel_noise or [],
        (correlation, time_constant),
        position_noise or [],
        cad_error,
    )
    motion = _motion(trajectory, ready.mechanism, rate, periods)
    other = None if truth is None else _truth(truth)
    try:
        made = make(ready.mechanism, motion, errors, truth=other, seed=seed)
    except KinematicsError as error:
        raise error.located(str(trajectory)) from None
    alone = positions_only or errors.in_positions
    used = {"trajectory": trajectory.name, "rate": rate, "periods": periods, "truth": truth}
    written = _write(output, made, errors, model, used, seed, alone)
    found = {
        "model": ready.mechanism.name,
        "samples": len(made.time),
        "start": float(made.time[0]),
        "end": float(made.time[-1]),
        "forces": _forces(made),
        "seed": seed,
        "notes": [*motion.notes, *_notes(errors, positions_only)],
        "output": written,
    }
    if json:
        print_json(found)
    else:
        _show(found)


def _truth(given: str) -> Mechanism | Truth:
    """Return a truth file, or a model whose CAD values are the truth."""
    from mechid.modelfile import load
    from mechid.runs.truth import read_truth

    return read_truth(given) if given.lower().endswith(".json") else load(given)


def _errors(
    mechanism: Mechanism,
    kind: Kind,
    force_noise: str,
    channel_noise: list[str],
    memory: tuple[float | None, float | None],
    position_noise: list[str],
    cad_error: str,
) -> Errors:
    from mechid.tasks.synthesise import Errors, ForceNoise, Level

    correlation, time_constant = memory
    if kind is not Kind.coloured and (correlation, time_constant) != (None, None):
        raise DataError(
            "--correlation and --time-constant are those of coloured errors",
            remedy="add --noise-kind coloured",
        )
    if correlation is not None and time_constant is not None:
        raise DataError("both a correlation and a time constant are given", remedy="give one")
    channels = {
        name: _level(value, f"--channel-noise {name}={value}")
        for name, value in named(channel_noise, "--channel-noise", "F_x=12.5").items()
    }
    plain = [text for text in position_noise if "=" not in text]
    if len(plain) > 1:
        raise DataError("--position-noise for all coordinates is given twice", remedy="give one")
    single = [text for text in position_noise if "=" in text]
    return Errors(
        ForceNoise(
            kind.value,
            Level(share(force_noise, "--force-noise")),
            channels,
            0.9 if correlation is None else correlation,
            time_constant,
        ),
        _level(plain[0], "--position-noise") if plain else None,
        {
            name: _level(value, f"--position-noise {name}={value}")
            for name, value in named(single, "--position-noise", "q1=1e-4").items()
        },
        share(cad_error, "--cad-error"),
    )


def _level(text: str, where: str) -> Level:
    from mechid.tasks.synthesise import Level

    relative = text.strip().endswith("%")
    return Level(share(text, where) if relative else number(text, where), relative)


def _motion(
    path: Path, mechanism: Mechanism, rate: float | None, periods: float | None
) -> MotionTable:
    """Return a motion; a trajectory is sampled, whole periods without their end."""
    from mechid.excitation.sampling import sample_times
    from mechid.excitation.trajectory import of_mechanism, sample
    from mechid.tables.motion import MotionTable, read_motion
    from mechid.trajectoryfile import load_trajectory
    from mechid.trajectoryfile.api import YAML_SUFFIXES

    if path.suffix.lower() not in YAML_SUFFIXES:
        if rate is not None or periods is not None:
            raise DataError(
                "--rate and --periods sample a trajectory; this is a table",
                where=str(path),
                remedy="leave them out, or give a .yaml file",
            )
        return read_motion(path, mechanism)
    ordered = of_mechanism(load_trajectory(path), mechanism, where=str(path))
    try:
        times = sample_times(ordered, rate=rate, periods=periods)
    except DataError as error:
        raise error.located(str(path)) from None
    return MotionTable(*sample(ordered, times=times))


def _write(
    output: Path,
    made: Synthesis,
    errors: Errors,
    model: str,
    used: dict[str, Any],
    seed: int,
    positions_only: bool,
) -> list[str]:
    from dataclasses import asdict

    from mechid.runs.truth import Truth, write_truth
    from mechid.tables.files import write_table

    write_table(output, made.table(positions_only=positions_only))
    names = tuple(c.name for c in made.columns)
    forces = [c.force for c in made.mechanism.coordinates]
    how = {
        "model": model,
        "seed": seed,
        "errors": asdict(errors),
        "drawn": dict(zip(forces, made.sigma.tolist(), strict=True)),
        "options": used | {"positions_only": positions_only},
    }
    return [str(output), str(write_truth(output, Truth(names, made.phi, how)))]


def _forces(made: Synthesis) -> dict[str, Any]:
    import numpy as np

    return {
        c.force: {
            "rms": float(np.sqrt(np.mean(made.exact[:, i] ** 2))),
            "error": float(made.sigma[i]),
        }
        for i, c in enumerate(made.mechanism.coordinates)
    }


def _notes(errors: Errors, positions_only: bool) -> list[str]:
    if errors.in_positions and not positions_only:
        return ["positions are noisy: speeds and accelerations are left out"]
    return []


def _show(found: dict[str, Any]) -> None:
    pairs = [
        ("model", found["model"]),
        ("samples", f"{found['samples']}, {found['start']:g} s to {found['end']:g} s"),
    ]
    pairs += [
        (name, f"rms {f['rms']:.4g}, of the errors {f['error']:.4g}")
        for name, f in found["forces"].items()
    ]
    print_pairs(pairs)
    print_notes(found["notes"])
    for path in found["output"]:
        typer.echo(f"wrote {path}")
