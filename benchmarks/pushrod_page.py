"""The page of the study of the push-rod suspension."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pushrod_case import (
    ALL,
    AUTO,
    CAD,
    CAD_ERROR,
    CHARACTERISED,
    LENGTH,
    MOTIONS,
    NOISE,
    ONE,
    ONE_RULE,
    PUBLISHED_SET,
    RANK_1,
    RANK_2,
    STROKES,
    THRESHOLD,
    TWO,
    Study,
)
from pushrod_tables import (
    PUBLISHED,
    cad_table,
    contribution_table,
    cross_table,
    motion_table,
    number,
    parameter_table,
    published_table,
    rank_rows,
    rank_table,
    reason_table,
)

ERROR = f"{100 * NOISE:g} %"


def page(s: Study) -> str:
    """Return the page."""
    return f"""# The push-rod suspension: contribution first, or singular values alone

Written by `benchmarks/pushrod.py`. Mejía, Valero and Mata (*Ingeniería y Competitividad* 16, 2014)
reduce the 220 parameters of a push-rod suspension in two ways. *Model 1*: singular values alone,
with an imposed rank of {RANK_1}, then elimination by relative standard deviation. *Model 2*:
parameters that contribute less than {THRESHOLD:g} % are set to zero, then singular values. Here
both are made of `pushrod_suspension` and laid beside the published figures.

Geometry, amplitudes, number of samples and the law of the errors are not published; the model has
the published masses and a geometry of its own. Numbers can agree in their order at best; what
counts is whether the same things happen. Wheels move up and down and do not spin, {LENGTH:g} s,
{s.size.samples} samples, the right wheel a quarter of a period ahead:

{motion_table()}

Bands of T1 and T3 are published. As in the paper's equation (22), τ is what the parameters have to
explain: forces of springs and dampers, which are known, are taken off. All errors are the relative
absolute error of its equation (25), Σ|τ_est - τ|/Σ|τ - mean τ|, in percent, against exact forces.

## Contributions

{contribution_table(s)}

{contribution_words(s)}

## Model 1: a rank imposed

Identified with T2, exact forces, columns in SI units as in the paper. *CAD*: base parameters
computed from CAD values, which are the true ones here. *Identified*: by plain least squares. κ is
the condition number of W₁ as it is.

{rank_table(s, ONE)}

{rank_words(s)}

{parameter_table(s, ONE_RULE, s.regrouped[ONE])}

As in the paper, these are sums of many parameters that mean nothing by themselves.

## Model 2: contribution first

{rank_table(s, TWO)}

Singular values of what is left do not suggest {RANK_2} parameters: rounding allows
{rank_rows(s, TWO)[-1][1]}. The rank of {RANK_2} is published, and imposed here.

{parameter_table(s, TWO, s.regrouped[TWO])}

Which parameter heads a group is a matter of choice; here pivoting decides. The published eight can
be estimated as they are (T2, exact forces; m4 stands for m3 + m4):

{published_table(s)}

{published_words(s)}

## Prediction of other motions

Median over {s.size.seeds} seeds, and the range. Errors of the forces of identification are normal,
{ERROR} of the root mean square of each τ. *{ALL}*: as many parameters as rounding allows.

{cross_table(s, "τ")}

The same with {ERROR} of the forces as a sensor at the wheel sees them, with springs and dampers:

{cross_table(s, "force", exact=False)}

![Forces of T1 and T3, identified with T2](../img/pushrod_cross.svg)

*Identified with T2: (a) T1, left wheel, exact forces; (b) part of T3, right wheel, exact forces;
(c) T1, right wheel, forces of identification with {ERROR} error. Model 1 is that after elimination
by deviation.*

{cross_words(s)}

Why: errors on T1, identified with T2 and exact forces, for two amplitudes of T1, and without
weight:

{reason_table(s)}

{reason_words(s)}
{cad_section(s)}"""


def contribution_words(s: Study) -> str:
    """Beside the published numbers."""
    mean = s.contributions["mean"]
    own = [number(s.eliminated["T2", x][1]) for x in (0.3, 0.5)]
    return f"""Published: 26 parameters contribute more than 1 %, and "for a reduction of
0.3 % - 0.5 %, the dynamic error increases from 0.93 % to 1.98 %". Here {len(mean.above(1.0))}
contribute more than 1 %. Elimination under 0.3 % and 0.5 %, going by T2, makes an error of
{own[0]} % and {own[1]} % on T2, other parameters at their true values: the same order, and a
steeper step. Models below take the mean of {" and ".join(CHARACTERISED)}, which leaves
{len(mean.above(THRESHOLD))} parameters."""


def rank_words(s: Study) -> str:
    """What the imposed rank does."""
    rows = [row for row in rank_rows(s, ONE) if 10 <= row[1] <= RANK_1]
    low, high = max(pairwise(rows), key=lambda pair: pair[0][4][0] / pair[1][4][0])
    left = len(s.exact[ONE_RULE].parameters)
    return f"""Published: κ falls with the rank, and below {RANK_1} the error is no longer
satisfactory. Here κ falls as well, and the error on T1 steps from {number(high[4][0])} % at rank
{high[1]} to {number(low[4][0])} % at rank {low[1]}, while that on T2 itself is only
{number(low[4][1])} %. The motion of identification does not tell.

Elimination by relative standard deviation (ten times the smallest) then leaves {left} parameters
(published: 8 in table 2, with standard deviations of 0.07 to 1.01 %):"""


def published_words(s: Study) -> str:
    """What agrees and what does not."""
    values = dict(zip(PUBLISHED_SET, s.published.values, strict=True))
    mean = s.contributions["mean"]
    index = dict(zip(mean.parameters, mean.index, strict=True))
    largest = max(index[n] for n in ("Ixx_10", "Ixz_10", "Ixx_12", "Ixz_12"))
    errors = " / ".join(number(x) for x in s.case.errors(s.published))
    cad, there = PUBLISHED[4][1], PUBLISHED[4][2]
    return f"""Equal: wheel and upright take up the arms and rods that move with them. {cad:.4g} kg
become {values["m_4"]:.4g} kg here and {there:.4g} kg there, and it is the best determined number of
all. Different: m6 and the coupler bars. The model has the published Ixx10 and Ixz10, but they
contribute no more than {largest:.0e} % here, so they would be the first to go, and as free numbers
they represent something else. The published eight cannot be all that contributes more than 0.3 %
either: they are made of ten parameters, and 26 contribute more than 1 %. Errors of this set on
{" / ".join(MOTIONS)}: {errors} %."""


def cross_words(s: Study) -> str:
    """What the tables say."""
    rule, one, two = (s.cross["τ", "T2", model] for model in (ONE_RULE, ONE, TWO))
    m_rule, m_one, m_two = (np.median(x, axis=0) for x in (rule, one, two))
    clean_1, clean_2 = (s.cross["0", "T2", model][0, 0] for model in (ONE_RULE, TWO))
    seeds = int(np.count_nonzero(np.minimum(rule, one)[:, 0] > two[:, 0]))
    back_1, back_2 = (np.median(s.cross["τ", "T1", model], axis=0)[2] for model in (ONE, TWO))
    springs = np.median(s.cross["force", "T1", TWO], axis=0)[2]
    return f"""Published: the models are a very good approximation even with errors, "except Model 1
(…), which does not present a good approach at low frequencies". The same happens here. Identified
with T2, the error of model 1 on T1 is {number(clean_1)} % with exact forces and
{number(m_rule[0])} % with errors ({number(m_one[0])} % before elimination by deviation); that of
model 2 is {number(clean_2)} % and {number(m_two[0])} %, and it is the better one for {seeds} of
{len(rule)} seeds. On T3 they have {number(m_rule[2])} % and {number(m_two[2])} %. The other way,
from T1 to T3, model 1 before elimination by deviation has {number(back_1)} % and model 2
{number(back_2)} %. Without an imposed rank plain least squares is of no use on other motions: such
a condition number lets the errors through, as the paper says.

Errors relative to the whole force are another matter on T1, where springs make nearly all of it:
identified with T1, model 2 then has {number(springs)} % on T3, so that slow motions alone identify
next to nothing."""


def reason_words(s: Study) -> str:
    """Why model 1 fails at low frequencies."""
    long, short = STROKES
    whole, small = s.reasons[True, long][ONE_RULE], s.reasons[True, short][ONE_RULE]
    none = s.reasons[False, long][ONE_RULE]
    return f"""It is weight over a long stroke: {number(whole)} % fall to {number(small)} % with a
short one and to {number(none)} % without weight. Slow motions may be large, and then the levers of
weight change. Small fast ones hardly show that: a lower rank or elimination by deviation cuts it
off, and what the rank of {RANK_1} keeps of it drowns in noise. Elimination by contribution keeps
whole columns of masses, in which weight and acceleration come in the right proportion at every
pose. Amplitudes are our choice, so that the size of the effect is, too."""


def cad_section(s: Study) -> str:
    """The default of mechid, CAD values with errors."""
    if not s.cad:
        return ""
    other = [(a, i) for a in MOTIONS for i, b in enumerate(MOTIONS) if a != b]
    ratios = [float(np.median(s.cad[a, AUTO][:, i] / s.cad[a, TWO][:, i])) for a, i in other]
    wins = sum(int(np.count_nonzero(s.cad[a, AUTO][:, i] < s.cad[a, CAD][:, i])) for a, i in other)
    return f"""
## CAD values with errors, and the default of mechid

In the paper the CAD values are the true ones. Here they have errors of {100 * CAD_ERROR:g} %
(`mechid.estimation.perturb`), contributions are taken with them, and the default estimator joins
in: all {len(s.case.base.base)} base parameters, the CAD values as prior, noise as the data show it.
Errors of forces are {ERROR} of τ; {s.size.cad_seeds} seeds.

{cad_table(s)}

On motions other than that of identification, the error of the default is {min(ratios):.2f} to
{max(ratios):.2f} times that of model 2 (medians over seeds), and smaller than that of the CAD
values in {wins} of {len(other) * s.size.cad_seeds} cases. It needs neither a threshold nor a rank,
and estimates all base parameters.
"""
