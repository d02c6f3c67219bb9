"""Designed against random motions: the later prediction error on all models, under four noise laws.

`python benchmarks/excitation_worlds.py` prints the table in a quick size; `--docs` takes the full
size and writes docs/reference/excitation-worlds.md; `--keep FOLDER` keeps results per model.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from excitation_worlds_page import page

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import Observation, observation_matrix
from mechid.estimation.automatic import Automatic
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimator import Estimator
from mechid.estimation.perturb import perturbed
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.excitation.trajectory import Trajectory, sample
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import zoo_names
from mechid.tables.forces import force_unit
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.excite import excite
from mechid.tasks.stages import base_of
from mechid.tasks.synthesise import coloured

Floats = npt.NDArray[np.float64]
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "excitation-worlds.md"
CAD_ERROR = 0.2
RATE, PERIODS = 100.0, 2.0  # Hz; periods of 1 s that are measured
SLOW = 0.25  # Hz, base frequency of half of the motions for validation
MEMORY = 0.05  # s, time constant of coloured noise
LAWS = ("own", "usual 1 %", "usual 5 %", "coloured")
ESTIMATORS: Mapping[str, Estimator] = {
    "default": Automatic(),
    "maximum a posteriori": MaximumAPosteriori(prior="full", scale=1.0),
}


@dataclass(frozen=True)
class Size:
    """How much is computed: random motions, for validation, truths; and the effort of designs.

    Few forces leave much to chance: `forces` are wanted over all truths.
    """

    random: int
    validation: int
    truths: int
    forces: int
    effort: Mapping[str, int]

    def truths_of(self, mechanism: Mechanism) -> int:
        """Return how many truths are drawn."""
        return max(self.truths, round(self.forces / len(mechanism.coordinates)))


FULL = Size(7, 4, 4, 12, {})
QUICK = Size(3, 2, 2, 2, {"random": 10, "starts": 1, "iterations": 10})


@dataclass(frozen=True)
class Outcome:
    """Errors of one model.

    Attributes
    ----------
    designed : mapping law → float
        Relative prediction error after the designed motion: root mean square over forces, geometric
        mean over truths.
    random : mapping law → sequence of float
        The same after each random motion.
    forces : sequence of float
        Root mean square of each force of the designed motion, relative to the median of the random
        motions.
    """

    designed: Mapping[str, float]
    random: Mapping[str, Sequence[float]]
    forces: Sequence[float]


@dataclass(frozen=True, eq=False)
class World:
    """A mechanism with true parameters, and motions to predict."""

    mechanism: Mechanism
    known: Prior
    truths: Sequence[Floats]
    validation: Sequence[Observation]

    def reference(self, phi: Floats) -> Floats:
        """Return the root mean square of each force of the motions to predict."""
        return rms(np.concatenate([seen.W @ phi + seen.known for seen in self.validation]))

    def error(self, seen: Observation, time: Floats, law: str, estimator: Estimator) -> float:
        """Return the prediction error after one motion."""
        found = []
        for k, phi in enumerate(self.truths):
            usual = self.reference(phi)
            tau = seen.W @ phi + seen.known
            tau = tau + _noise(law, tau, usual, np.random.default_rng([k, 2]))
            theta = estimator(self._problem(seen, tau, time), self.known).values
            wrong = self.known.matrix @ phi - theta
            W = np.concatenate([self._base(v) for v in self.validation])
            share = rms(W @ wrong)[usual > 0] / usual[usual > 0]
            found.append(float(np.log(rms(share))))
        return float(np.exp(np.mean(found)))

    def _base(self, seen: Observation) -> Floats:
        places = [self.known.parameters.index(name) for name in self.known.base]
        return np.ascontiguousarray(seen.W[..., places])

    def _problem(self, seen: Observation, tau: Floats, time: Floats) -> Regression:
        coordinates = self.mechanism.coordinates
        return Regression(
            self._base(seen),
            tau,
            seen.known,
            time,
            self.known.base,
            tuple(c.force for c in coordinates),
            tuple(force_unit(c) for c in coordinates),
            np.ones(tau.shape, dtype=bool),
        )


def rms(values: Floats) -> Floats:
    """Return the root mean square over the first axis."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def _noise(law: str, tau: Floats, usual: Floats, rng: np.random.Generator) -> Floats:
    deviates = rng.standard_normal(tau.shape)
    if law == "coloured":
        deviates = coloured(deviates, float(np.exp(-1 / (RATE * MEMORY))))
    size = {"usual 1 %": 0.01 * usual, "usual 5 %": 0.05 * usual}.get(law, 0.05 * rms(tau))
    return np.asarray(size * deviates)


def _seen(mechanism: Mechanism, trajectory: Trajectory, periods: float) -> Observation:
    n = round(RATE * periods * trajectory.duration)
    s = sample(trajectory, times=np.arange(n) / RATE)
    return observation_matrix(solve_motion(mechanism, s.y, s.yd, s.ydd, time=s.time))


def outcome(name: str, size: Size, estimator: Estimator) -> Outcome:
    """Design a motion, draw others, and identify with each of them."""
    mechanism = mechid.load(name)

    def drawn(seed: int, frequency: float = 1.0) -> Trajectory:
        return excite(mechanism, random=1, starts=0, seed=seed, frequency=frequency).trajectory

    validation = [drawn(900 + k, (1.0, SLOW)[k % 2]) for k in range(size.validation)]
    others = [_seen(mechanism, drawn(100 + k), PERIODS) for k in range(size.random)]
    made = _seen(mechanism, excite(mechanism, **size.effort).trajectory, PERIODS)
    truths = [
        parameter_values(dynamic_model(perturbed(mechanism, CAD_ERROR, np.random.default_rng(k))))
        for k in range(size.truths_of(mechanism))
    ]
    world = World(
        mechanism,
        prior_from_cad(mechanism, base_of(mechanism), cad_error=CAD_ERROR),
        truths,
        [_seen(mechanism, motion, 1.0) for motion in validation],
    )
    times = np.arange(len(made.W)) / RATE
    errors = {
        law: [world.error(seen, times, law, estimator) for seen in (made, *others)] for law in LAWS
    }
    cad = parameter_values(dynamic_model(mechanism))
    usual = np.median([rms(seen.W @ cad + seen.known) for seen in others], axis=0)
    own = rms(made.W @ cad + made.known)[usual > 0] / usual[usual > 0]
    return Outcome(
        {law: found[0] for law, found in errors.items()},
        {law: found[1:] for law, found in errors.items()},
        own.tolist(),
    )


def main() -> None:
    """Print or write the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", action="store_true", help=f"full size; write {PAGE.name}")
    parser.add_argument("--full", action="store_true", help="full size")
    parser.add_argument("--models", default=",".join(zoo_names()), help="with commas")
    parser.add_argument("--estimator", choices=list(ESTIMATORS), default="default")
    parser.add_argument("--keep", type=Path, help="folder of results that are kept, or taken")
    options = parser.parse_args()
    size = FULL if options.docs or options.full else QUICK
    found: dict[str, Outcome] = {}
    for name in options.models.split(","):
        began = time.perf_counter()
        kept = options.keep and options.keep / f"{name}.pickle"
        if kept and kept.exists():
            found[name] = pickle.loads(kept.read_bytes())
        else:
            found[name] = outcome(name, size, ESTIMATORS[options.estimator])
            if kept:
                kept.write_bytes(pickle.dumps(found[name]))
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    text = page(found, size, options.estimator)
    print(text)
    if options.docs:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
