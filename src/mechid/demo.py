"""The whole method on a suspension, with synthetic measurements: `python -m mechid.demo`."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mechid
from mechid.tasks.compile_kernels import compile_ahead

MODEL = "sla_suspension"
FOLDER = Path("demo")
RATE, PERIODS = 100.0, 5  # samples per second, periods that are measured
NOISE, CAD_ERROR, SEED = "5%", "20%", 1


def main(folder: Path = FOLDER, name: str = MODEL) -> None:
    """Run the demonstration; what it writes goes to `folder`."""
    begin = time.perf_counter()
    print(f"mechid: identify {name} from synthetic measurements")
    if compile_ahead():
        print("(the first run compiles kernels meanwhile, and takes longer)", flush=True)
    print()
    folder.mkdir(parents=True, exist_ok=True)
    with _step("look at the mechanism"):
        model = mechid.load(name)
        m = mechid.mobility(model)
        joints = sum(m.joints.values())
        _line("moving bodies, joints, loops", f"{m.bodies}, {joints}, {joints - m.bodies}")
        _line("degrees of freedom", m.dof)
    # Gradient steps would improve it, but their kernels take another minute to compile.
    with _step("choose a motion that shows the parameters, the best of 60 at random"):
        motion = mechid.excite(model, random=60, starts=0, seed=SEED)
        mechid.save_trajectory(motion.trajectory, folder / "motion.yaml")
        _line("expected error of predictions", f"{motion.criteria['prediction']:.3g} of the forces")
    with _step("choose another motion to validate the model on"):
        other = mechid.excite(model, random=4, starts=0, seed=SEED + 1)
        mechid.save_trajectory(other.trajectory, folder / "other.yaml")
    with _step(f"measure: {NOISE} force noise, CAD values wrong by {CAD_ERROR}"):
        truth: dict[str, Any] = {
            "cad_error": CAD_ERROR,
            "seed": SEED,
            "rate": RATE,
            "periods": PERIODS,
        }
        log = mechid.synthesise(model, motion, noise=NOISE, **truth)
        # Exact, so that the errors below are those of the model alone.
        test = mechid.synthesise(model, other, **truth)
        mechid.save_measurement(log, folder / "motion.parquet")
        mechid.save_measurement(test, folder / "other.parquet")
        _line("samples, forces", f"{len(log.time)}, {log.tau.shape[1]}")
    with _step("identify, reduce and validate"):
        run = mechid.identify(
            model,
            folder / "motion.parquet",
            validate=folder / "other.parquet",
            cad_error=CAD_ERROR,
            reduce="contribution",
            folder=folder / "run",
            force=True,
        )
        _line("base parameters", len(run.parameters.names))
        if run.reduction is not None:
            _line("estimated after reduction", run.reduction.size.size)
        for row in run.validation:
            _line(f"error on {row.motion}, {row.model}", row.words)
    with _step("write the report"):
        page = mechid.write_report(run, folder / "report.html")
        _line("size", f"{page.stat().st_size / 1e6:.1f} MB, works offline")
    print(f"Whole demonstration: {time.perf_counter() - begin:.0f} s.")
    print(f"Open the report in a browser: {page.resolve().as_uri()}")


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
    logging.basicConfig(format="%(message)s")
    logging.getLogger("mechid").setLevel(logging.INFO)  # what is being compiled
    main()
