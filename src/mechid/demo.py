"""The whole method on a suspension, with synthetic measurements: `python -m mechid.demo`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechid.excitation.optimise import Effort
    from mechid.mechanism.records import Mechanism
    from mechid.runs.record import Run

MODEL = "sla_suspension"
FOLDER = Path("demo")
RATE, PERIODS = 100.0, 5  # samples per second, periods that are measured
FORCE_NOISE, CAD_ERROR, SEED = 0.05, 0.2, 1


def main(folder: Path = FOLDER, model: str = MODEL) -> None:
    """Run the demonstration; what it writes goes to `folder`."""
    begin = time.perf_counter()
    print(f"mechid: identify {model} from synthetic measurements")
    print("(the first run compiles the kernels, which takes about a minute)\n", flush=True)
    from mechid.excitation.optimise import Effort
    from mechid.modelfile import load
    from mechid.report import write_report

    mechanism = load(model)
    folder.mkdir(parents=True, exist_ok=True)
    with _step("look at the mechanism"):
        _mobility(mechanism)
    # Gradient steps would improve it, but their kernels take another minute to compile.
    with _step("choose a motion that shows the parameters, the best of 60 at random"):
        _excite(mechanism, folder / "motion.yaml", Effort(60, 0), SEED)
    with _step("choose another one to try the model on"):
        _excite(mechanism, folder / "other.yaml", Effort(4, 0), SEED + 1)
    with _step(f"measure: {FORCE_NOISE:.0%} force noise, CAD values wrong by {CAD_ERROR:.0%}"):
        _synthesise(mechanism, folder, "motion", FORCE_NOISE)
        # Exact, so that the errors below are those of the model alone.
        _synthesise(mechanism, folder, "other", 0.0)
    with _step("identify, reduce and validate"):
        run = _identify(mechanism, folder)
    with _step("write the report"):
        page = write_report(run, folder / "report.html")
        _line("size", f"{page.stat().st_size / 1e6:.1f} MB, works offline")
    print(f"Whole demonstration: {time.perf_counter() - begin:.0f} s.")
    print(f"Open the report in a browser: {page.resolve().as_uri()}")


def _mobility(mechanism: Mechanism) -> None:
    from mechid.kinematics.mobility import mobility

    m = mobility(mechanism)
    joints = sum(m.joints.values())
    _line("moving bodies, joints, loops", f"{m.bodies}, {joints}, {joints - m.bodies}")
    _line("degrees of freedom", m.dof)


def _excite(mechanism: Mechanism, path: Path, effort: Effort, seed: int) -> None:
    """As `mechid excite`."""
    from mechid.tasks.excite import design_motion
    from mechid.trajectoryfile import save_trajectory

    found = design_motion(mechanism, effort=effort, seed=seed)
    save_trajectory(found.excitation.trajectory, path)
    _line("expected error of predictions", f"{found.criteria['prediction']:.3g} of the forces")


def _synthesise(mechanism: Mechanism, folder: Path, name: str, noise: float) -> None:
    """As `mechid synthesise`."""
    from mechid.excitation.sampling import sample_times
    from mechid.excitation.trajectory import sample
    from mechid.runs.truth import Truth, write_truth
    from mechid.tables import MotionTable, write_table
    from mechid.tasks.synthesise import Errors, ForceNoise, Level, synthesise
    from mechid.trajectoryfile import load_trajectory

    output = folder / f"{name}.parquet"
    trajectory = load_trajectory(folder / f"{name}.yaml")
    times = sample_times(trajectory, rate=RATE, periods=PERIODS)
    moved = MotionTable(*sample(trajectory, times=times))
    errors = Errors(ForceNoise(level=Level(noise)), cad=CAD_ERROR)
    made = synthesise(mechanism, moved, errors, seed=SEED)
    write_table(output, made.table())
    how = {"model": mechanism.name, "seed": SEED, "errors": asdict(errors)}
    write_truth(output, Truth(tuple(c.name for c in made.columns), made.phi, how))
    _line(name, f"{len(made.time)} samples of {made.tau.shape[1]} forces, {noise:.0%} noise")


def _identify(mechanism: Mechanism, folder: Path) -> Run:
    """As `mechid identify … --cad-error 20% --reduce contribution --validate …`."""
    from mechid.measurementfile import read_measurement
    from mechid.runs.files import file_hash
    from mechid.runs.folder import RunFolder
    from mechid.runs.record import About, DataFile, library_versions
    from mechid.runs.truth import read_truth, truth_path
    from mechid.signals.prepare import prepare
    from mechid.tasks.identify import Options, identify
    from mechid.tasks.reduce import ReduceOptions
    from mechid.tasks.regress import motion_data

    sources = {"identification": "motion.parquet", "validation-1": "other.parquet"}
    motions = []
    for name, file in sources.items():
        read = read_measurement(folder / file, mechanism)
        motions.append(motion_data(name, file, prepare(read, mechanism, read.preparation)))
    options = Options(cad_error=CAD_ERROR, reduce=ReduceOptions())
    about = About(
        f"mechid identify {mechanism.name} motion.parquet --cad-error {100 * CAD_ERROR:g}% "
        "--reduce contribution --validate other.parquet -o run",
        mechanism.name,
        asdict(options),
        SEED,
        tuple(DataFile(file, file_hash(folder / file), name) for name, file in sources.items()),
        library_versions(),
    )
    run = identify(
        mechanism,
        motions,
        options,
        truth=read_truth(truth_path(folder / "motion.parquet")),
        about=about,
        keep=RunFolder.create(folder / "run", force=True).keep,
    )
    _line("base parameters", len(run.parameters.names))
    if run.reduction is not None:
        _line("estimated after reduction", run.reduction.size.size)
    for row in run.validation:
        _line(f"error on {row['motion']}, {row['model']}", f"{row['total']:.1%}")
    return run


@contextmanager
def _step(what: str) -> Iterator[None]:
    begin = time.perf_counter()
    print(f"{what} …", flush=True)
    yield
    _line("done in", f"{time.perf_counter() - begin:.1f} s")
    print()


def _line(name: str, value: object) -> None:
    print(f"  {name:<37}{value}", flush=True)


if __name__ == "__main__":
    main()
