"""What `mechid simulate` does: forces and times in, tables, plots and a summary out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from mechid.cli.common import print_json, print_notes, print_pairs, print_table
from mechid.cli.parse_values import assignments, number_list
from mechid.cli.progress import interruptible, progress
from mechid.cli.reactions import (
    multiplier_summary,
    print_multipliers,
    print_reactions,
    reaction_summary,
)
from mechid.dynamics.loads import Interpolation, table_forces
from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.simulate import simulate as run
from mechid.dynamics.simulation import (
    Simulation,
    SimulationError,
    SimulationOptions,
    simulated_motion,
    simulated_reactions,
)
from mechid.errors import DataError, MechidError
from mechid.excitation.families import Family
from mechid.excitation.trajectory import times_at
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import Motion
from mechid.kinematics.start import start_of
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism
from mechid.outputs import check_outputs
from mechid.tables.files import table_suffix, write_table
from mechid.tables.forces import read_forces
from mechid.tables.names import known_name
from mechid.tables.quality import limit_notes
from mechid.tables.simulation import named_coordinates, simulation_columns
from mechid.trajectoryfile.expression import Expression
from mechid.trajectoryfile.motion import read_drive

Law = Callable[[float, Floats, Floats], Floats]
_SAME = 1e-9  # of the duration: times that differ by less are one
_IN_A_ROW = 6  # times beside each other in a table of the terminal
_PAGE_RATE = 50.0  # samples per second in a page; more only makes it heavier


@dataclass(frozen=True)
class Applied:
    """Forces on the independent coordinates: constant, and from a table that ends at `end`."""

    constant: Floats
    table: Law | None = None
    path: str = ""
    end: float | None = None
    notes: tuple[str, ...] = ()

    def until(self, end: float) -> Floats | Law:
        """Return the forces for a simulation from 0 to `end`, or reject a table that is shorter."""
        if self.table is None:
            return self.constant
        table, constant, nothing = self.table, self.constant, np.zeros(0)
        for t in (0.0, end):
            try:
                table(t, nothing, nothing)
            except DataError as error:
                raise error.located(self.path) from None
        # An integrator may look a little beyond the end.
        return lambda t, y, yd: constant + table(min(t, end), y, yd)


def applied_forces(
    mechanism: Mechanism, path: Path | None, interpolation: Interpolation, given: list[str]
) -> Applied:
    """Return the forces of --forces and --apply; a force may not be in both."""
    names = [c.force for c in mechanism.coordinates]
    values = assignments(given, names, "--apply")
    constant = np.array([values.get(name, 0.0) for name in names])
    if path is None:
        return Applied(constant)
    read = read_forces(path, mechanism)
    for i, name in enumerate(names):
        if name in values and np.any(read.tau[:, i]):
            raise DataError(f"--apply gives {name}, which is a column of the table too",
                            where=str(path))  # fmt: skip
    try:
        law = table_forces(read.time, read.tau, interpolation)
    except DataError as error:
        raise error.located(str(path)) from None
    return Applied(constant, law, str(path), float(read.time[-1]), read.notes)


def driven_motions(
    mechanism: Mechanism, given: list[str]
) -> tuple[dict[str, Family], float | None]:
    """Return the motions of --drive by coordinate, and the time at which the first of them ends."""
    motions: dict[str, Family] = {}
    ends: list[float] = []
    for text in given:
        name, sign, expression = (part.strip() for part in text.partition("="))
        where = f"--drive {text}"
        found: Mapping[str, Family]
        if sign:
            try:
                found = {name: Expression(expression)}
            except DataError as error:
                raise error.located(where) from None
            known_name(name, [c.name for c in mechanism.coordinates], f"there is no {name} here")
        else:
            trajectory = read_drive(Path(text), mechanism)
            found = {name: trajectory[name] for name in trajectory.names}
            ends.append(trajectory.duration)
        for name, family in found.items():
            if name in motions:
                raise DataError(f"{name} is driven twice", where=where)
            motions[name] = family
    return motions, min(ends, default=None)


def times_of(
    t_end: float | None, at: str | None, rate: float, table_end: float | None
) -> tuple[Floats, Floats | None]:
    """Return the times to simulate, from 0 on, and those to print (None: all of them)."""
    asked = None if at is None else np.unique(number_list(at, "--at"))
    if t_end is None:
        t_end = float(asked[-1]) if asked is not None else table_end
    if t_end is None:
        raise DataError("the simulation has no end", remedy="add --t-end SECONDS")
    if not 0 < t_end < np.inf:
        raise DataError(f"--t-end must be > 0, got {t_end:g}")
    if not 0 < rate < np.inf:
        raise DataError(f"--rate must be > 0, got {rate:g}")
    if asked is not None and not (asked[0] >= 0 and asked[-1] <= t_end):
        outside = asked[0] if asked[0] < 0 else asked[-1]
        raise DataError(f"--at must be between 0 and {t_end:g} s, got {outside:g}")
    exact = np.array([0.0, t_end]) if asked is None else np.unique([0.0, t_end, *asked])
    grid = times_at(t_end, rate)[1:]
    near = np.abs(grid[:, None] - exact).min(axis=1) if grid.size else grid
    return np.sort(np.concatenate([exact, grid[(near > _SAME * t_end) & (grid < t_end)]])), asked


def state_at(
    model: KinematicModel, start: list[str], speed: list[str]
) -> tuple[Floats | None, Floats | None]:
    """Return coordinates and speeds at the start: those of the model but for the given ones."""
    names = [c.name for c in model.mechanism.coordinates]
    positions = assignments(start, names, "--start")
    speeds = dict(model.mechanism.start.speeds) | assignments(speed, names, "--speed")
    y = start_of(model)
    for name, value in positions.items():
        y[names.index(name)] = value
    return y, np.array([speeds.get(name, 0.0) for name in names])


@dataclass(frozen=True)
class Done:
    """A simulation, as far as it came: `error` says why it did not come to its end."""

    simulation: Simulation
    motion: Motion
    error: SimulationError | None = None
    interrupted: bool = False
    reactions: JointReactions | None = None


def carry_out(
    mechanism: Mechanism,
    times: Floats,
    options: SimulationOptions,
    *,
    reactions: bool = False,
    max_seconds: float | None = None,
    **inputs: Any,
) -> Done:
    """Simulate with progress; Ctrl-C, too little time and failures leave what was computed."""
    error: SimulationError | None = None
    with interruptible(max_seconds) as interrupt, progress("simulating", float(times[-1])) as show:

        def watch(t: float) -> None:
            interrupt()
            show(t)

        try:
            result = run(mechanism, times, options, watch=watch, **inputs)
        except SimulationError as failure:
            result, error = failure.partial, failure
        stopped = interrupt.asked
    found = simulated_reactions(result) if reactions else None
    return Done(result, simulated_motion(result), error, stopped, found)


@dataclass(frozen=True)
class Outputs:
    """Files to write."""

    table: Path | None
    plot: Path | None
    page: Path | None

    def check(self, force: bool, inputs: Sequence[str | Path | None]) -> None:
        """Reject what could not be written, before anything is computed."""
        if self.table is not None:
            table_suffix(self.table)
        if self.plot is not None:
            from mechid.plots import check_plot_path

            check_plot_path(self.plot)
        check_outputs(*self.paths, force=force, inputs=inputs)

    @property
    def paths(self) -> list[Path]:
        """The files, in the order in which they are written."""
        return [path for path in (self.table, self.plot, self.page) if path is not None]

    def write(self, done: Done) -> None:
        """Write the files."""
        if self.table is not None:
            columns = simulation_columns(done.simulation, done.motion, done.reactions)
            write_table(self.table, columns)
        if self.plot is not None:
            from mechid.plots import save_plot, simulation_panels

            title = done.simulation.model.mechanism.title or done.simulation.model.mechanism.name
            save_plot(self.plot, simulation_panels(done.simulation), title)
        if self.page is not None:
            from mechid.view import write_page

            write_page(done.motion.model.mechanism, self.page, _thinned(done.motion))


def end(
    done: Done, printed: Floats | None, outputs: Outputs, notes: tuple[str, ...], json: bool
) -> None:
    """Say what came out, and leave: 0 done, 130 interrupted; a failure is raised."""
    if done.error is not None and not done.interrupted:
        raise _with_files(done.error, outputs)
    found = summary(done, printed, outputs, notes)
    if json:
        print_json(found)
    else:
        _show(found, printed is not None)
    if done.interrupted and done.error is not None:
        reached = done.simulation.time[-1]
        typer.echo(f"interrupted: results until t = {reached:g} s", err=True)
        raise typer.Exit(130)


def summary(
    done: Done, printed: Floats | None, outputs: Outputs, notes: tuple[str, ...]
) -> dict[str, Any]:
    """Return everything that `simulate` says, ready for JSON."""
    s, motion = done.simulation, done.motion
    mechanism = s.model.mechanism
    chosen = slice(None) if printed is None else np.flatnonzero(np.isin(s.time, printed))
    ranges = [np.ptp(e) for e in (s.kinetic, s.potential, s.work, s.dissipated)]
    worst = float(s.constraint_error.max())
    found: dict[str, Any] = {
        "model": mechanism.name,
        "formulation": s.formulation,
        "stabilisation": s.stabilisation,
        "integrator": s.integrator,
        "driven": list(s.driven),
        "driving_forces": [c.force for c in mechanism.coordinates if c.name in s.driven],
        "complete": done.error is None,
        "end": float(s.time[-1]),
        "times": s.time[chosen].tolist(),
        "coordinates": {k: v[chosen].tolist() for k, v in named_coordinates(motion).items()},
        "speeds": {c.name: s.yd[chosen, i].tolist() for i, c in enumerate(mechanism.coordinates)},
        "forces": {c.force: s.tau[chosen, i].tolist() for i, c in enumerate(mechanism.coordinates)},
        "constraint_error": worst,
        "constraint_error_m": worst * s.model.kinematics.size,
        "energy_error": float(np.abs(s.energy_error).max()),
        "energy_range": float(max(ranges)),
        "evaluations": s.evaluations,
        "steps": s.steps,
        "seconds": s.seconds,
        "notes": [*notes, *limit_notes(motion)],
        "output": [str(path) for path in outputs.paths],
    }
    if done.reactions is not None:
        found["reactions"] = reaction_summary(done.reactions)
        found["constraints"] = multiplier_summary(done.reactions)
    return found


def _show(found: dict[str, Any], all_times: bool) -> None:
    times = found["times"]
    print_pairs(
        [
            ("simulated", f"{found['end']:g} s"),
            ("formulation", f"{found['formulation']}, stabilisation {found['stabilisation']}"),
            ("integrator", f"{found['integrator']}, {found['steps']} steps"),
            ("evaluations", f"{found['evaluations']} in {found['seconds']:.3g} s"),
            ("constraint error", f"{found['constraint_error_m']:.1e} m"),
            ("energy error", f"{found['energy_error']:.1e} J of {found['energy_range']:.3g} J"),
        ]
    )
    typer.echo("")
    every = len(times) <= _IN_A_ROW or all_times
    shown = range(len(times)) if every else (0, len(times) - 1)
    driving = {name: found["forces"][name] for name in found["driving_forces"]}
    _print_values("coordinate", found["coordinates"], times, shown)
    if driving:
        typer.echo("")
        _print_values("driving force", driving, times, shown)
    if "reactions" in found:
        typer.echo("")
        print_reactions(found["reactions"])
        print_multipliers(found["constraints"])
    print_notes(found["notes"])
    for path in found["output"]:
        typer.echo(f"wrote {path}")


def _print_values(
    title: str, values: Mapping[str, list[float]], times: list[float], shown: Sequence[int]
) -> None:
    """Print time histories: a column per time, or a row where there are many."""
    if len(shown) <= _IN_A_ROW:
        titles = (title, *(f"{times[k]:g} s" for k in shown))
        rows = [(name, *(f"{v[k]:.9g}" for k in shown)) for name, v in values.items()]
    else:
        titles = ("time, s", *values)
        rows = [(f"{times[k]:g}", *(f"{v[k]:.9g}" for v in values.values())) for k in shown]
    print_table(titles, rows)


def _with_files(error: SimulationError, outputs: Outputs) -> MechidError:
    if not outputs.paths:
        return error
    written = ", ".join(str(path) for path in outputs.paths)
    kept = f"the results until then are in {written}"
    remedy = f"{error.remedy}; {kept}" if error.remedy else kept
    return SimulationError(error.what, error.partial, where=error.where, remedy=remedy)


def _thinned(motion: Motion) -> Motion:
    """Return fewer samples of a motion that has more than a page needs."""
    time = motion.time
    if time is None or len(time) < 2:
        return motion
    step = int((len(time) - 1) / max(float(time[-1] - time[0]) * _PAGE_RATE, 1.0))
    return motion.part(slice(None, None, max(step, 1)))
