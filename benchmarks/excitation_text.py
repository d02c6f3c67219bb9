"""The words of the study of excitation."""

TEXT = """# What designing a motion gains

Written by `benchmarks/excitation.py`. All motions here are Fourier series of {harmonics} harmonics with a base frequency of
{frequency:g} Hz, sampled {samples} times in one period, within the usual limits of the [command](commands.md#mechid-excite-model).
Designed motions, checked with {finer} times as many samples, {least}. A design is a small one ({effort}; no more than {evaluations}
evaluations), so that many fit into one study. Random motions are drawn as `mechid excite` does: each coordinate as wide as its own
limits allow, its mean placed within its range, and all of it shrunk where other limits or the closure ask for it. Designs start
from other random motions than those they are compared with.

## The suspension: condition numbers

`sla_suspension`, its wheels driven by 50 sin(π f t) rad, f = {frequency:g} Hz, with the base sets T1 to T4 of the model file.
Published are condition numbers of W_base for optimised motions (table 5.7 of the source). Geometry, samples and limits of the source
are not published, so that orders of magnitude compare at best. Beside them, {set_seeds} designs each for the condition number with
columns of unit length (*equilibrated*): median and range over seeds, and the condition number of the same matrix as it is
(*raw*). *Best random* is the best of {n} random feasible motions.

{sets}

*Directions seen* are singular values of the equilibrated matrix above a hundred units of rounding
([`resolution`](trajectories.md#criteria)). *Rounding of σ_min* is the relative rounding error of the smallest one: 1 would mean that
it is nothing but rounding. No equilibrated condition number above 1/ε = {limit} can be computed.

What optimisation can do for a mechanism of low mobility, and what not:

- Stroke comes first. {random_whole} % of the random motions show all 83 directions, because they use the stroke of every
  coordinate. Motions whose coordinates were drawn without regard to their ranges, as an earlier version of this study did, showed
  71 to 79 of them; the rest was rounding, so was its gradient, and designs that started there mostly stayed there.
- From a good start, {whole} of {designs} designs show all 83 directions, with equilibrated condition numbers from {lowest} to {highest}.
  The table says by how much that is better than the best random motion.
- It cannot make the matrix well conditioned. With five coordinates and 83 parameters, most bodies move almost alike in every motion
  that the loops allow; some combinations of parameters show a millionth of a millionth as much as others, whichever motion is
  chosen. Without knowledge from elsewhere (a prior, fewer parameters) they stay unknown: see the errors of plain least squares below.

Raw numbers are larger than the published ones: speeds of the wheels make long columns. Errors in the entries make condition numbers
smaller, since a matrix with errors has no tiny singular values. T1, median of {rounded} random motions, one plain SVD, random errors
added to W (relative to the largest entry of each column):

{rounding}

ROUNDING_WORDS

## What each criterion gains

{seeds} designs for each criterion against the best of {n} random feasible motions. *Gain* is the best random value over that of the
design (median and best of the seeds); for `d`, a logarithm, the mean factor of a variance. A gain below 1: the random search was
better. `a`, `d`, `e` and `prediction` count on 5 % noise and on the CAD values.

`sla_suspension`, T1:

{gains}

`five_bar`, where every base parameter shows:

{five_gains}

GAIN_WORDS

## Which criterion tells the prediction error?

For {ranked} random feasible motions each: true parameters are CAD values changed by their deviations ({truths} draws), forces get
white noise, base parameters are estimated, and forces of {validation} other random motions are predicted.
E_p = Σ_j |τ_est - τ_true|/|τ_true|, mean over draws and motions. Two estimators: least squares weighted by the noise with the CAD
prior as further rows, and plain least squares (NumPy's `lstsq`). Two laws of noise: 5 % of the root mean square of each force *of that
motion*, and the *same* deviation for all motions (5 % of the forces at random states, the default of `mechid excite`).

The tables give Spearman's rank correlation of E_p with each criterion; +1 is what one wants. Without any relation, it would scatter by
{scatter}. Rows below `prediction` change what the criterion knows: targets that are {targets} motions of the kind that is predicted
later, instead of random states; the noise as it is in that motion (`--noise-of motion`).

`sla_suspension`, T1:

{ranks}

`five_bar`:

{five_ranks}

And E_p itself in percent, of random motions and of designs (median over {seeds} seeds).

`sla_suspension`, T1:

{errors}

`five_bar`:

{five_errors}

The default criterion is `prediction`. What the tables say of it:

{found}

CONCLUSION_WORDS

## Other mechanisms

Designed for the equilibrated condition number ({set_seeds} seeds, median and range) against {n} random feasible motions, without
prior.

{others}

Published condition numbers of excitation motions of six-axis arms would be a measure for the last row. A search of public pages,
documentation and repositories found the criterion described often, and no value that says for which parameters and with which scaling
it holds. One figure is at hand from measured data: a motion of a Stäubli TX40 (six axes) published with
[figaroh-examples](https://github.com/thanhndv212/figaroh-examples) (`examples/staubli_TX40/data`) has an equilibrated condition number
of 22.6 for 61 base parameters, of which 36 are those of rigid bodies and the others friction, rotor inertias and couplings of the drives. ARM_WORDS
"""
