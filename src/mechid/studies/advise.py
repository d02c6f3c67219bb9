"""Advice about an experiment: how long, which motion, which sensor, and what stays with CAD.

Everything but the check follows from the expected errors of white noise and of CAD values with
Gaussian errors (`mechid.studies.experiments.information`); the check identifies synthetic data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mechid.blas_threads import one_blas_thread
from mechid.errors import DataError, MechidError
from mechid.estimation.regression import Floats
from mechid.excitation.optimise import Watch
from mechid.excitation.trajectory import Trajectory, usual_rate
from mechid.mechanism.records import Mechanism
from mechid.options.noise import noise_levels
from mechid.studies.advice import Advice, advice_words
from mechid.studies.experiments import shared
from mechid.studies.experiments.identification import ALL
from mechid.studies.experiments.identification import run as identifications
from mechid.studies.experiments.identification_settings import IdentificationSettings
from mechid.studies.experiments.information import (
    InformationSettings,
    Knowledge,
    force_rows,
    in_units_of_noise,
    knowledge_of,
    prior_for,
    sensors_of,
)
from mechid.studies.experiments.shared import words_key
from mechid.tasks.load_cells import AXIAL, FORCE, load_cells
from mechid.textfile.numbers import share

PERIODS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
_RESTING = 0.9  # of the standard deviation before: what the data hardly show
_WORTH = 0.8  # a sensor is named if the error falls below this part
_EFFORT: Mapping[str, Any] = {"random": 60, "starts": 1, "iterations": 25}
_RANDOM = tuple({"random": 1, "starts": 0, "seed": 101 + k} for k in range(3))
_OTHERS = tuple({"random": 1, "starts": 0, "seed": 901 + k} for k in range(2))


@one_blas_thread()
def advise(
    model: Mechanism | str | Path,
    *,
    forces: Sequence[str] | str = (),
    target: str | float = "E_p<5%",
    motion: str | Path | None = None,
    noise: str | float = 0.05,
    cad_error: str | float | None = None,
    rate: float | None = None,
    frequency: float = 1.0,
    draws: int = 3,
    seed: int = 0,
    watch: Watch | None = None,
) -> Advice:
    """Say how long to measure, with which motion, which sensor is missing, and what stays with CAD.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes. Its CAD values and their uncertainty count.
    forces : sequence of str or str
        Forces that can be measured; by default all.
    target : str or float
        Wanted prediction error, mean over all forces of the mechanism: "E_p<5%", or 0.05.
    motion : str or Path, optional
        A trajectory file to judge; by default a motion is designed.
    noise : str or float
        Standard deviation of the force noise, relative to the root mean square of each force.
    cad_error : str or float, optional
        Relative error of the CAD values; by default as the model declares.
    rate : float, optional
        Samples per second; by default twenty per period of the highest frequency.
    frequency : float
        Base frequency of the designed motion, Hz.
    draws : int
        Identifications of synthetic data that check the answer; 0 for none.
    seed : int
        Of the design and of these.
    watch : callable (stage, step, value), optional
        Told how far it is: the best value of a design, and E_p of what is done with a motion.

    Raises
    ------
    DataError
        For a target, force or motion that makes no sense.

    Examples
    --------
    >>> import mechid
    >>> found = mechid.advise("four_bar", target="E_p<3%", draws=0)
    >>> found.seconds is not None
    True
    >>> len(found.determined) + len(found.resting)
    8
    """
    wanted = target_of(target)
    with tempfile.TemporaryDirectory() as folder:
        spec = _spec(model, Path(folder))
        plan = _Plan(
            spec=spec,
            forces=_forces(spec, forces),
            noise=share(noise, "noise") if isinstance(noise, str) else noise,
            cad_error=share(cad_error, "cad_error") if isinstance(cad_error, str) else cad_error,
            words={"file": str(motion)}
            if motion is not None
            else {**_EFFORT, "frequency": frequency, "seed": seed},
            random=tuple({**words, "frequency": frequency} for words in _RANDOM),
            others=tuple({**words, "frequency": frequency} for words in _OTHERS),
            rate=rate,
        )
        tell = watch or (lambda stage, step, value: None)
        with _told_of_designs(tell):
            return _advice(plan, wanted, draws, seed, tell)


def target_of(given: str | float) -> float:
    """Return a target as a number.

    Raises
    ------
    DataError
        If it is neither "E_p<5%" nor a positive number.
    """
    text = str(given).replace(" ", "").replace("≤", "<").removeprefix("E_p").removeprefix("<")
    try:
        found = share(text.removeprefix("="), "target") if text else 0.0
    except MechidError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise DataError(f"target must be E_p<VALUE, got {given}", remedy='write "E_p<5%"')
    return found


@dataclass(frozen=True)
class _Plan:
    """What is asked."""

    spec: str
    forces: tuple[str, ...]
    noise: float
    cad_error: float | None
    words: Mapping[str, Any]
    random: tuple[Mapping[str, Any], ...]
    others: tuple[Mapping[str, Any], ...]
    rate: float | None

    @property
    def trajectory(self) -> Trajectory:
        return shared.designed(self.spec, words_key(self.words))

    @property
    def sampled(self) -> float:
        return self.rate or usual_rate(self.trajectory)

    def settings(self, words: Mapping[str, Any] | None = None) -> InformationSettings:
        """Return one period of a motion as the experiment takes it."""
        return InformationSettings(
            model=self.spec,
            motion=self.words if words is None else words,
            validation=self.others,
            rate=self.sampled,
            cad_error=self.cad_error,
            forces=self.forces,
            noise=self.noise,
        )


def _spec(model: Any, folder: Path) -> str:
    """Return a model as text that names it; a record is written to a file."""
    if not isinstance(model, Mechanism):
        return str(model)
    from mechid.modelfile.api import dumps

    path = folder / f"{model.name}.yaml"
    path.write_text(dumps(model), encoding="utf-8")
    return str(path)


def _forces(spec: str, given: Sequence[str] | str) -> tuple[str, ...]:
    known = [c.force for c in shared.mechanism(spec).coordinates]
    names = given.split(",") if isinstance(given, str) else given
    names = [name.strip() for name in names if name.strip()]
    if strange := [name for name in names if name not in known]:
        raise DataError(
            f"there is no force {strange[0]}", remedy=f"choose one of: {', '.join(known)}"
        )
    return tuple(names or known)


def _advice(plan: _Plan, target: float, draws: int, seed: int, watch: Watch) -> Advice:
    watch("designing a motion", 0, np.nan)
    settings = plan.settings()
    prior = prior_for(settings)
    A = force_rows(settings, prior)
    duration = plan.trajectory.duration
    by_time = [(k, _error(settings, knowledge_of(prior, np.sqrt(k) * A))) for k in PERIODS]
    random = []
    for step, words in enumerate(plan.random):
        other = plan.settings(words)
        B = force_rows(other, prior)
        random.append([_error(settings, knowledge_of(prior, np.sqrt(k) * B)) for k in PERIODS])
        watch("random motions", 1 + step, random[-1][0])
    usual = np.median(random, axis=0)
    periods = _first(PERIODS, [error for _, error in by_time], target)
    k = periods or PERIODS[-1]
    watch("sensors", 0, np.nan)
    many = np.sqrt(k) * A
    known = knowledge_of(prior, many)
    reached = _error(settings, known)
    left = known.sigma() / np.maximum(known.sigma(after=False), np.finfo(float).tiny)
    without = {}
    for name in plan.forces if len(plan.forces) > 1 else ():
        fewer = replace(settings, forces=tuple(x for x in plan.forces if x != name))
        without[name] = _error(settings, knowledge_of(prior, np.sqrt(k) * force_rows(fewer, prior)))
    sensors = _more_sensors(settings, known, many, k, reached)
    found = Advice(
        model=shared.mechanism(plan.spec).name,
        target=target,
        forces=plan.forces,
        trajectory=plan.trajectory,
        rate=plan.sampled,
        seconds=None if periods is None else periods * duration,
        random_seconds=_seconds(_first(PERIODS, list(usual), target), duration),
        errors={
            n * duration: (error, float(other))
            for (n, error), other in zip(by_time, usual, strict=True)
        },
        cad=_error(settings, known, after=False),
        without=without,
        sensors=sensors,
        determined=tuple(n for n, x in zip(prior.base, left, strict=True) if x < _RESTING),
        resting=tuple(n for n, x in zip(prior.base, left, strict=True) if x >= _RESTING),
        checked=(),
        inside=float("nan"),
    )
    if draws:
        watch("check", 0, np.nan)
        checked, inside = _check(plan, min(k, _MOST_CHECKED), draws, seed, watch)
        found = replace(found, checked=checked, inside=inside)
    return replace(found, words=advice_words(found, reached, min(k, _MOST_CHECKED) * duration))


@contextmanager
def _told_of_designs(watch: Watch) -> Iterator[None]:
    """Let designs of motions tell how far they are; their values are logarithms."""
    told = shared.watching.set(
        lambda what, step, best: watch(f"designing a motion, {what}", step, float(np.exp(best)))
    )
    try:
        yield
    finally:
        shared.watching.reset(told)


_MOST_CHECKED = 20  # periods: longer data take long to identify


def _error(settings: InformationSettings, known: Knowledge, *, after: bool = True) -> float:
    """Return the expected E_p, mean over the forces and the predicted motions."""
    found = [np.mean(known.errors(shared.observed(by), after=after)) for by in settings.others]
    return float(np.mean(found))


def _first(periods: Sequence[int], errors: Sequence[float], target: float) -> int | None:
    return next((k for k, e in zip(periods, errors, strict=True) if e <= target), None)


def _seconds(periods: int | None, duration: float) -> float | None:
    return None if periods is None else periods * duration


def _more_sensors(
    settings: InformationSettings, known: Knowledge, A: Floats, periods: int, reached: float
) -> dict[str, float]:
    """Return E_p with one sensor more, of those that are worth it, the best first."""
    prior, found = known.prior, {}
    every = [c.force for c in shared.mechanism(settings.model).coordinates]
    for name in every:
        if name not in settings.forces:
            more = replace(settings, forces=(*settings.forces, name))
            rows = np.sqrt(periods) * force_rows(more, prior)
            found[name] = _error(settings, knowledge_of(prior, rows))
    candidates = tuple(
        name
        for name in load_cells(shared.mechanism(settings.model))
        if name.startswith((FORCE, AXIAL))
    )
    seen = sensors_of(settings.measured, candidates, True)
    of = np.array(seen.sensor)
    for name in dict.fromkeys(seen.sensor):
        own = replace(
            seen,
            W=seen.W[:, of == name],
            known=seen.known[:, of == name],
            sensor=tuple(of[of == name].tolist()),
        )
        rows = np.sqrt(periods) * in_units_of_noise(own, prior.values, settings.noise)
        found[name] = _error(settings, knowledge_of(prior, np.concatenate([A, rows])))
    worth = {name: error for name, error in found.items() if error < _WORTH * reached}
    return dict(sorted(worth.items(), key=lambda item: item[1]))


def _check(
    plan: _Plan, periods: int, draws: int, seed: int, watch: Watch
) -> tuple[tuple[float, ...], float]:
    """Identify synthetic data, and return E_p of each draw and the coverage of the forces."""
    common: dict[str, Any] = {
        "model": plan.spec,
        "motion": plan.words,
        "validation": plan.others,
        "rate": plan.sampled,
        "periods": periods,
        "forces": plan.forces,
        "noise": noise_levels(plan.noise),
    }
    if plan.cad_error is None:
        common |= {"declared_in_file": True}
    else:
        common |= {"cad_error": plan.cad_error}
    cells = [IdentificationSettings(seed=seed + k, **common) for k in range(draws)]
    errors, inside = [], []
    for outcome in identifications(cells):
        if isinstance(outcome, MechidError):
            raise outcome
        rows = [row for row in outcome if row["force"] != ALL]
        errors.append(float(np.mean([float(str(row["E_p"])) for row in rows])))
        inside.append(float(np.mean([float(str(row["inside_forces"])) for row in rows])))
        watch("check", len(errors), errors[-1])
    return tuple(errors), float(np.mean(inside))
