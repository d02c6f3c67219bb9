"""One example of every public record: what a user would have in hand in the end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechid

TX40 = Path(__file__).parents[2] / "examples" / "tx40" / "tx40.urdf"


@pytest.fixture(scope="session")
def run() -> mechid.Run:
    """A whole run of a five-bar linkage: synthetic data, a validation motion, a reduced model."""
    model = mechid.load("five_bar")
    motion = mechid.excite(model, random=2, starts=0, harmonics=3, seed=1)
    log = mechid.synthesise(model, motion, noise="2%", cad_error="20%", seed=1)
    slower = mechid.excite(model, random=2, starts=0, harmonics=2, seed=2)
    other = mechid.synthesise(model, slower, noise="2%", truth=log.truth, seed=2)
    return mechid.identify(model, log, validate=other, cad_error="20%", reduce="contribution")


@pytest.fixture(scope="session")
def examples(run: mechid.Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Return records by the name of their type."""
    folder = tmp_path_factory.mktemp("examples")
    model = run.mechanism
    motion = mechid.tour(model)
    designed = mechid.excite(model, random=2, starts=0)
    made = mechid.synthesise(model, designed, noise="2%", seed=1)
    forces = mechid.inverse_dynamics(motion, reactions=True)
    base = mechid.base_parameters(model, certify=True)
    mechid.write_table(folder / "motion.csv", motion.to_frame())
    log = mechid.save_measurement(made, folder / "log.parquet")[0]
    template = mechid.template("four-bar", folder / "template")
    study = mechid.load_study("mobility", quick=True)
    studied = mechid.run_study(study, folder / "study", workers=0)
    plan = mechid.plan_study(study, seconds=0)
    compared = mechid.compare_studies(studied, studied)
    records = [
        model, motion, motion.model, motion.bodies(), mechid.joint_motion(motion, "A1"),
        mechid.mobility(model), mechid.sensitivities(motion.part(slice(0, 2))),
        mechid.read_motion(folder / "motion.csv", model), mechid.observation_matrix(motion), forces,
        forces.reactions, mechid.simulate(model, np.linspace(0, 0.01, 3)),
        mechid.SimulationOptions(), base, base.chosen, base.null_space, base.experiment,
        designed, designed.options, designed.trajectory, designed.limits[0],
        mechid.evaluate_motion(model, designed), mechid.Criterion("d"), made, made.options,
        made.measurement, made.truth, mechid.Preparation(), mechid.Decimation(4),
        run, run.about.options, run.motions[0], run.forces[0], run.validation[0],
        mechid.Validation(run, ("validation-1",)), mechid.ReduceOptions(),
        mechid.NoiseLevels(), mechid.Weighing(("crank_1",), 0.7, 0.01),
        mechid.Fourier.zeros(1.0, 2), mechid.BSpline(1.0, (0.0,) * 8), mechid.Constant(1.0),
        mechid.Sine(0.1, 2.0), mechid.Chirp(0.1, 1.0, 2.0, 3.0), mechid.Function(np.sin),
        mechid.Tabulated((0.0, 1.0), (0.0, 0.1)), mechid.Scaled(mechid.Constant(1.0)),
        mechid.Sum((mechid.Constant(1.0),)),
        mechid.identify(model, run.motions, estimator="ols").spread,
        mechid.Diagnosis("offset", "M1", 0.5, "N m", 9.0, "M1 has an offset", "estimate it"),
        mechid.import_model(TX40), mechid.ImportOptions(), mechid.fill(*template[:2]),
        mechid.export(run, "urdf"),
        mechid.payload(run, run.motions[1], body="coupler_1"), mechid.verdict(run),
        mechid.advise("pendulum", draws=0), study, studied, plan, plan.parts[0], compared,
        compared.parts[0], compared.columns[0], mechid.identify_streamed(model, log),
    ]  # fmt: skip
    return {type(record).__name__: record for record in records}
