"""What speaks for and against the model of a run, one function per piece of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.special import bdtrc

from mechid.mechanism.records import force_unit
from mechid.runs import verdict_trust as of
from mechid.runs.record import ALL_LOGS, ForceError, Run, ValidationRow
from mechid.runs.verdict_record import Answer, Evidence, Grade
from mechid.validation.diagnosis_record import Diagnosis

NORMAL_95 = 1.959964  # standard deviations on both sides hold 95 % of a normal distribution
# Residuals below this part of a force are those of data without noise: none is measured so well.
_EXACT = 1e-5
# Residuals of less than this part of the noise cannot contain it: the motion has less noise.
_LESS_NOISE = 0.5
# Errors on motions that were not used may be this many times those on the motion used …
_LARGER = 2.0
# … or this part of the force, which no one minds.
_SMALL = 0.01
# Of this part of the forces that is not explained, one cannot say that the model predicts.
_UNEXPLAINED = 0.5
# Shares of 95 % intervals that hold: below the first doubtful, below the second wrong.
_COVERED, _UNCOVERED = 0.9, 0.75
# Correlated residuals: probability under whiteness, and correlation of neighbours worth a word.
_WHITE, _MEMORY = 1e-3, 0.2
_DISAGREE = 0.01  # p of χ² below which prior and data disagree
_HALF = 0.5  # of the error of the CAD values: the data are confirmed by a motion not used
_APART = 1.5  # standard deviations between estimates of single logs
_MOVED = 2.0  # standard deviations to the nearest physically consistent base values
_CHANCE = 0.01  # probability that so many true values miss their intervals by chance
_BETTER = 0.95  # of an error: worth a word
_FEW = 5  # measured values per parameter
# What a wrong zero or scale may leave of the error of a force.
_PATTERN = 0.5
_KINDS = {"offset": "an offset", "gain": "a gain"}
_WORDS = {"offset": "zero", "gain": "scale"}
# Findings that make everything else meaningless.
GROSS = ("unit", "swapped", "sign")


def gross(run: Run) -> bool:
    """Return whether a finding makes everything else meaningless."""
    return any(d.kind in GROSS and not d.motion for d in run.diagnosis)


def final_model(run: Run) -> str:
    """Return the name of the model to predict with."""
    return "estimate" if run.reduced is None else "reduced"


def row_of(run: Run, motion: str, model: str) -> ValidationRow | None:
    """Return the validation of a model on a motion, if there is one."""
    rows = (row for row in run.validation if (row.motion, row.model) == (motion, model))
    return next(rows, None)


def unseen_rows(run: Run) -> tuple[tuple[ValidationRow, ValidationRow | None], ...]:
    """Return errors on motions that were not used, each with that of the CAD values.

    Motions for validation; without any, all logs together, each predicted from the others.
    """
    if run.others:
        names, model, rows = [m.name for m in run.others], final_model(run), run.validation
    else:
        names, model, rows = [ALL_LOGS], "estimate", run.left_out
    by = {(row.motion, row.model): row for row in rows}
    return tuple((by[name, model], by.get((name, "cad"))) for name in names if (name, model) in by)


def own_errors(run: Run) -> Mapping[str, float]:
    """Return the rms of residuals of each force on the motions of identification, N or N m."""
    if run.estimate is None:
        return {}
    e = run.final.residuals
    count = np.maximum(np.isfinite(e).sum(axis=0), 1)
    size = np.nanmax(np.abs(e), axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)  # squares of large residuals are no numbers
    rms = size * np.sqrt(np.nansum((e / size) ** 2, axis=0) / count)
    return dict(zip(run.final.channels, rms.tolist(), strict=True))


def without_noise(run: Run) -> bool:
    """Return whether the residuals of the identification are rounding only."""
    rows = [row_of(run, motion.name, final_model(run)) for motion in run.logs]
    errors = [e.E_p for row in rows if row is not None for e in row.forces.values()]
    return bool(errors) and max(errors) < _EXACT


def less_noise(run: Run, error: ForceError, force: str) -> bool:
    """Return whether a motion has less noise than the identification, so that whiteness of its
    residuals says nothing: what is left is the error of the parameters, which is no noise."""
    noise = dict(zip(run.final.channels, run.final.noise.tolist(), strict=True)).get(force, np.nan)
    return bool(error.rms < _LESS_NOISE * noise) or error.E_p < _EXACT


def unseen_error(run: Run) -> Evidence:
    """Grade the errors on motions that were not used."""
    name = "error on motions not used"
    rows = unseen_rows(run)
    if not rows:
        own = row_of(run, run.motions[0].name, final_model(run))
        words = (
            "" if own is None else f"; on the motion used it is {own.words}, which is optimistic"
        )
        return Evidence(name, "not known", f"No other motion was given to predict{words}.")
    own_rms = own_errors(run)
    grade: Grade = "good"
    parts = []
    for row, cad in rows:
        words = f"{row.words} on {row.motion}"
        words += "" if cad is None else f" (CAD values {cad.words})"
        larger = [
            f"{force} {error.rms / own_rms[force]:.2g} times"
            for force, error in row.forces.items()
            if error.rms > _LARGER * own_rms[force] > 0 and error.E_p > _SMALL
        ]
        if cad is not None and cad.error < row.error:
            grade, words = "bad", f"{words}: the CAD values predict better"
        elif row.error > _UNEXPLAINED:
            grade, words = "bad", f"{words}: most of the forces is not explained"
        elif larger and not without_noise(run):
            grade = "bad" if grade == "bad" else "doubtful"
            words += f", larger than on the motion used: {', '.join(larger)}"
        parts.append(words)
    what = "The error" if run.others else "With each log predicted from the others, the error"
    worst = max(row.error for row, _ in rows)
    return Evidence(name, grade, f"{what} is {'; '.join(parts)}.", worst)


def coverage(run: Run) -> Evidence:
    """Grade whether intervals of 95 % hold on motions that were not used."""
    name = "intervals of 95 %"
    rows = [row for row, _ in unseen_rows(run)]
    if not run.others:
        rows = [row for row in run.left_out if row.model == "estimate" and row.motion != ALL_LOGS]
    shares = {
        (row.motion, force): e.coverage
        for row in rows
        for force, e in row.forces.items()
        if e.coverage is not None and np.isfinite(e.coverage)
    }
    if without_noise(run):
        return Evidence(name, "not known", "Intervals say nothing of data without noise.")
    if not shares:
        return Evidence(name, "not known", "No other motion was given to test the intervals on.")
    (motion, force), least = min(shares.items(), key=lambda item: item[1])
    mean = float(np.mean(list(shares.values())))
    grade: Grade = "good" if least >= _COVERED else "doubtful" if least >= _UNCOVERED else "bad"
    if grade == "bad" and mean >= _UNCOVERED:
        grade = "doubtful"
    words = f"{100 * mean:.3g} % of the forces lie within their intervals of 95 %"
    if least < _COVERED:
        words += f", of {force} on {motion} only {100 * least:.3g} %: intervals are too narrow"
    return Evidence(name, grade, f"{words}.", least)


def whiteness(run: Run) -> Evidence:
    """Grade whether residuals of the identification are correlated in time.

    On motions that were not used, errors of the parameters are left too, which are no noise: what
    is seen there is said, and counts by the size of the error.
    """
    name = "residuals"
    tested = _correlated(run, [motion.name for motion in run.logs])
    if not tested:
        why = "no test was made, or the data have no noise"
        return Evidence(name, "not known", f"Whether residuals are white is not known: {why}.")
    coloured = {force: r for force, r in tested.items() if r > _MEMORY}
    most = max(tested.values())
    if not coloured:
        words = f"Residuals of the identification are not correlated in time.{_unseen_note(run)}"
        return Evidence(name, "good", words, most)
    return Evidence(
        name,
        "doubtful",
        f"Residuals are correlated in time (neighbouring samples: {_memories(coloured)}): the "
        "model lacks something, or the noise is coloured.",
        most,
    )


def _correlated(run: Run, motions: Sequence[str]) -> dict[str, float]:
    """Return the correlation of neighbouring residuals by force, 0 if chance explains it.

    Forces of motions that have less noise than the identification are left out.
    """
    found: dict[str, float] = {}
    for motion in motions:
        row = row_of(run, motion, final_model(run))
        for force, e in row.forces.items() if row is not None else ():
            if e.white is None or e.lag_one is None or not np.isfinite(e.white):
                continue
            if not less_noise(run, e, force):
                r = abs(e.lag_one) if e.white < _WHITE else 0.0
                found[force] = max(r, found.get(force, 0.0))
    return found


def _unseen_note(run: Run) -> str:
    """Say what residuals of motions that were not used show."""
    words = []
    for motion in run.others:
        tested = _correlated(run, [motion.name])
        coloured = {force: r for force, r in tested.items() if r > _MEMORY}
        if not tested:
            words.append(f" {motion.name} has less noise and is not tested.")
        elif coloured:
            words.append(
                f" On {motion.name} they are ({_memories(coloured)}): errors of the parameters, or "
                "of the model, show there."
            )
    return "".join(words)


def _memories(found: Mapping[str, float]) -> str:
    return ", ".join(f"{force} {r:.2f}" for force, r in found.items())


def reduction(run: Run) -> Iterator[Evidence]:
    """Yield that a model was reduced too much: all parameters predict another motion better."""
    words = _less(run) if run.others else ""
    if words:
        yield Evidence("reduction", "doubtful", f"The model was reduced too much: {words}")


def larger_model(run: Run) -> str:
    """Say what to do where the model was reduced too much, if all parameters predict better."""
    words = _less(run)
    return f"Keep more parameters (mechid reduce --size): {words}" if words else ""


def _less(run: Run) -> str:
    motion = run.motions[-1].name
    reduced, whole = (row_of(run, motion, model) for model in ("reduced", "estimate"))
    if reduced is None or whole is None or whole.error > _BETTER * reduced.error:
        return ""
    return (
        f"with all parameters the error on {motion} is {whole.words}, that of the reduced model "
        f"{reduced.words}."
    )


def physics(run: Run) -> Evidence:
    """Grade whether bodies that can exist have the identified base values."""
    name = "physical consistency"
    full = run.full
    if full is None:
        known = bool(np.isfinite(run.parameters.cad).all())
        if known and "validation" in run.stages:
            words = "No physically consistent bodies are near the identified values."
            return Evidence(name, "bad", words)
        return Evidence(name, "not known", "Without CAD values of all bodies this is not known.")
    if full.distance <= _MOVED:
        near = f", {full.distance:.2g} standard deviations away" if full.distance else ""
        words = f"Bodies that can exist have the identified values{near}."
        return Evidence(name, "good", words, full.distance)
    return Evidence(
        name,
        "doubtful",
        "No physically consistent bodies have the identified values: the nearest are "
        f"{full.distance:.2g} standard deviations away.",
        full.distance,
    )


def prior_and_data(run: Run) -> Evidence:
    """Grade whether CAD values and data agree; motions not used may confirm the data."""
    name = "CAD values and data"
    found = None if run.estimate is None else run.estimate.agreement
    if found is None or not np.isfinite(found.p):
        return Evidence(name, "not known", "The data were not compared with CAD values.")
    numbers = f"χ² = {found.chi2:.3g} with {found.dof:.3g} degrees of freedom"
    if found.p >= _DISAGREE:
        words = f"Data and CAD values agree within their declared errors ({numbers})."
        return Evidence(name, "good", words, found.p)
    rows = [(row, cad) for row, cad in unseen_rows(run) if cad is not None]
    confirmed = bool(rows) and all(row.error < _HALF * cad.error for row, cad in rows)
    words = (
        f"Data and CAD values disagree ({numbers}), as if the CAD values had {found.scale:.2g} "
        "times their declared errors"
    )
    if confirmed:
        words += "; motions not used confirm the data"
    return Evidence(name, "good" if confirmed else "doubtful", f"{words}.", found.p)


def findings(run: Run) -> tuple[Diagnosis, ...]:
    """Return what was diagnosed, without what `channel_patterns` says of motions not used."""
    said = {e.name for e in channel_patterns(run)}
    return tuple(d for d in run.diagnosis if not d.motion or f"{d.kind} {d.channel}" not in said)


def defects(run: Run) -> Iterator[Evidence]:
    """Yield what the diagnosis found in channels, model and motion."""
    if "validation" not in run.stages:
        yield Evidence("diagnosis", "not known", "The data were not diagnosed.")
        return
    for d in findings(run):
        if d.kind != "cad":  # said by `prior_and_data` and `unseen_error`
            about = f"{d.kind} {d.channel}".strip()
            text = f"{d.text[:1].upper()}{d.text[1:]}."
            worst: Grade = "bad" if d.kind in GROSS and not d.motion else "doubtful"
            grade: Grade = "good" if d.settled else worst
            yield Evidence(about, grade, text, d.size)
    if not run.diagnosis:
        yield Evidence("diagnosis", "good", "Nothing conspicuous was found in the data.")


def channel_patterns(run: Run) -> Iterator[Evidence]:
    """Yield forces whose errors on a motion not used are those of a wrong zero or scale.

    Measured forces are fitted by a + (1 + g) predicted. Where that explains nearly all of the
    error, a channel has another offset or gain in one of the logs. Not where the diagnosis found
    errors that explain everything else, or where a larger model predicts better.
    """
    if gross(run) or larger_model(run):
        return
    units = {c.force: force_unit(c) for c in run.mechanism.coordinates}
    own = own_errors(run)  # what is left there too is no matter of one of the logs
    for history in run.forces[run.n_logs :]:
        for j, force in enumerate(history.forces):
            measured, predicted = history.measured[:, j], history.predicted[:, j]
            here = np.isfinite(measured)
            rest = (measured - predicted)[here]
            size = float(np.sqrt(np.mean(rest**2))) if rest.size else 0.0
            least = _SMALL * float(np.sqrt(np.mean(measured[here] ** 2))) if rest.size else 0.0
            if not size > max(_LARGER * own.get(force, np.inf), least):
                continue
            constant = float(rest.mean())
            gain = float(rest @ predicted[here]) / float(predicted[here] @ predicted[here])
            left = {
                "offset": float(np.std(rest)),
                "gain": float(np.sqrt(np.mean((rest - gain * predicted[here]) ** 2))),
            }
            kind = min(left, key=lambda word: left[word])
            if left[kind] > _PATTERN * size:
                continue
            amount = f"{constant:.3g} {units[force]}" if kind == "offset" else f"{100 * gain:.3g} %"
            yield Evidence(
                f"{kind} {force}",
                "doubtful",
                f"On {history.name}, measured {force} differs from the prediction by "
                f"{_KINDS[kind]} of {amount}: the channel has another {_WORDS[kind]} in one of the "
                "logs.",
                constant if kind == "offset" else gain,
            )


def between_logs(run: Run) -> Iterator[Evidence]:
    """Yield whether estimates of single logs agree, if there are several."""
    spread = run.spread
    if spread is None or spread.largest is None:
        return
    parameter, most = spread.largest
    words = (
        f"Estimates of single logs differ by {spread.rms:.2g} standard deviations "
        f"({parameter} by {most:.2g}); 1 is expected."
    )
    yield Evidence("logs", "good" if spread.rms < _APART else "doubtful", words, spread.rms)


def samples(run: Run) -> Iterator[Evidence]:
    """Yield a doubt if there are few measured values for so many parameters."""
    n = int(sum(np.count_nonzero(motion.valid) // motion.decimation for motion in run.logs))
    b = len(run.parameters.names)
    if n < _FEW * b:
        words = f"{n} measured values are few for {b} parameters."
        yield Evidence("samples", "bad" if n < b else "doubtful", words, n / b)


def true_values(run: Run) -> Iterator[Evidence]:
    """Yield how many true values lie within their intervals, of synthetic data."""
    truth = run.parameters.truth
    if truth is None or run.estimate is None or without_noise(run):
        return
    at = {name: i for i, name in enumerate(run.parameters.names)}
    own = truth[[at[name] for name in run.final.parameters]]
    there = run.final.sigma > 0
    if not there.any():
        return
    z = np.abs(run.final.values - own)[there] / run.final.sigma[there]
    share = float(np.mean(z <= NORMAL_95))
    # A few may miss by chance; values that miss may still predict, so it is no worse than a doubt.
    misses = int(np.count_nonzero(z > NORMAL_95))
    chance = misses == 0 or bdtrc(misses - 1, z.size, 0.05) > _CHANCE
    grade: Grade = "good" if chance else "doubtful"
    words = f"{100 * share:.3g} % of the true values lie within ±1.96 σ; 95 % are expected."
    yield Evidence("true values", grade, words, share)


QUESTION = "Can I trust this model?"


def can_be_trusted(run: Run) -> Answer:
    """Answer from all evidence: "yes", "with care", "no" or "not known"."""
    if run.unfinished:
        return Answer(QUESTION, "not known", f"The run is not finished: {run.unfinished}.")
    error = of.unseen_error(run)
    evidence = (
        error,
        of.coverage(run),
        of.whiteness(run),
        of.physics(run),
        of.prior_and_data(run),
        *of.reduction(run),
        *of.between_logs(run),
        *of.samples(run),
        *of.true_values(run),
        *of.channel_patterns(run),
        *of.defects(run),
    )
    return Answer(QUESTION, *_answer(error, evidence), evidence)


def _answer(error: Evidence, evidence: tuple[Evidence, ...]) -> tuple[str, str]:
    bad = [e.text for e in evidence if e.grade == "bad"]
    doubts = [e.text for e in evidence if e.grade == "doubtful"]
    if bad:
        return "no", " ".join(dict.fromkeys([*bad, error.text]))
    if error.grade == "not known":
        return "not known", " ".join([error.text, *doubts])
    if doubts:
        return "with care", " ".join(dict.fromkeys([error.text, *doubts]))
    return "yes", f"{error.text} Nothing speaks against it."
