/* {{ title }}: see {{ name }}.h */
#include "{{ name }}.h"

#include <math.h>

/* Steps into which the way from the last pose may be divided: bounds the time of a call. */
#ifndef {{ NAME }}_MOST_STEPS
#define {{ NAME }}_MOST_STEPS {{ limits.most_steps }}
#endif

const {{ name }}_parameters {{ name }}_values = {{ "{{" }}
{% for row in parameters %}
    {{ row.number }}{{ "," if not loop.last else " " }} /* {{ loop.index0 }}: {{ row.comment }} */
{% endfor %}
{{ "}}" }};

const char *const {{ name }}_names[{{ NAME }}_P] = {
{% for row in parameters %}
    "{{ row.name }}"{{ "," if not loop.last }}
{% endfor %}
};

{{ functions }}
static int all_finite(const double *x, int n)
{
    int i;
    for (i = 0; i < n; ++i)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

static void copy(const double *from, double *to, int n)
{
    int i;
    for (i = 0; i < n; ++i)
        to[i] = from[i];
}

void {{ name }}_reset({{ name }}_state *state)
{
    static const double q[{{ NAME }}_Q] = { {{ home_q | join(", ") }} };
    static const double y[{{ NAME }}_N] = { {{ home_y | join(", ") }} };
    copy(q, state->q, {{ NAME }}_Q);
    copy(y, state->y, {{ NAME }}_N);
}

{% if closes %}
/* Newton's method at y, by no more than is trusted. */
static int close_loops(double *q, const double *y, double trusted)
{
    double next[{{ NAME }}_Q], size[1], moved = 0.0;
    int k;
    for (k = 0; k < {{ limits.most_corrections }}; ++k) {
        correct(q, y, next, size);
        moved += size[0];
        if (!(moved <= trusted))
            return {{ NAME }}_NOT_CLOSED;
        copy(next, q, {{ NAME }}_Q);
        if (size[0] < {{ limits.last_step }})
            return {{ NAME }}_OK;
    }
    return {{ NAME }}_NOT_CLOSED;
}

/* Whether a pose is closed, and on the branch of the home pose: determinants keep their sign. */
static int check_pose(const double *guard, const double *determinants)
{
    static const double sign[{{ signs | length }}] = { {{ signs | join(", ") }} };
    int i;
    if (!(guard[1] <= {{ limits.closed }}))
        return {{ NAME }}_NOT_CLOSED;
    if (!(guard[0] > {{ limits.singular }}))
        return {{ NAME }}_SINGULAR;
    for (i = 0; i < {{ signs | length }}; ++i)
        if (!(determinants[i] * sign[i] > 0.0))
            return {{ NAME }}_SINGULAR;
    return {{ NAME }}_OK;
}

/* Along the straight line to y: predict, close, check; a step that is not trusted is halved. */
int {{ name }}_move({{ name }}_state *state, const double y[{{ NAME }}_N])
{
    double q[{{ NAME }}_Q], trial[{{ NAME }}_Q], beyond[{{ NAME }}_Q];
    double now[{{ NAME }}_N], target[{{ NAME }}_N], change[{{ NAME }}_N];
    double step[{{ n_step }}], turned[{{ n_step }}], guard[4], new_guard[4], determinants[{{ signs | length }}];
    double reached = 0.0, part = 1.0, barrier = 0.0, trusted;
    int i, k, code, last, failure = {{ NAME }}_OK, ahead = {{ NAME }}_TOO_FAR;
    if (!all_finite(y, {{ NAME }}_N))
        return {{ NAME }}_NOT_FINITE;
    copy(state->q, q, {{ NAME }}_Q);
    copy(state->y, now, {{ NAME }}_N);
    for (k = 0; k < {{ NAME }}_MOST_STEPS; ++k) {
        for (i = 0; i < {{ NAME }}_N; ++i)
            change[i] = (y[i] - state->y[i]) * part;
        tangent(q, now, change, trial, step, guard, determinants);
        if (guard[3] > {{ limits.longest }}) {
            part *= 0.99 * {{ limits.longest }} / guard[3];
            continue;
        }
        last = reached + part >= 1.0;
        for (i = 0; i < {{ NAME }}_N; ++i)
            target[i] = last ? y[i] : state->y[i] + (reached + part) * (y[i] - state->y[i]);
        trusted = {{ limits.trusted_part }} * guard[2] + {{ limits.trusted_size }};
        code = close_loops(trial, target, trusted);
        if (code == {{ NAME }}_OK) {
            tangent(trial, target, change, beyond, turned, new_guard, determinants);
            code = check_pose(new_guard, determinants);
        }
        for (i = 0; i < {{ n_step }} && code == {{ NAME }}_OK; ++i)
            if (!(fabs(turned[i] - step[i]) <= trusted))
                code = {{ NAME }}_NOT_CLOSED;
        if (code == {{ NAME }}_OK) {
            copy(trial, q, {{ NAME }}_Q);
            copy(target, now, {{ NAME }}_N);
            if (last) {
                copy(q, state->q, {{ NAME }}_Q);
                copy(y, state->y, {{ NAME }}_N);
                return {{ NAME }}_OK;
            }
            reached += part;
            part = 2.0 * part < 1.0 - reached ? 2.0 * part : 1.0 - reached;
            failure = {{ NAME }}_OK;
        } else {
            if (code > failure)
                failure = code;
            ahead = code;
            barrier = reached + part;
            part *= 0.5;
            if (part < {{ limits.shortest_part }} && guard[2] < {{ limits.shortest_step }})
                return failure;
        }
    }
    return reached < barrier ? ahead : {{ NAME }}_TOO_FAR;
}
{% else %}
/* There are no loops: every pose is closed. */
int {{ name }}_move({{ name }}_state *state, const double y[{{ NAME }}_N])
{
    double q[{{ NAME }}_Q];
    if (!all_finite(y, {{ NAME }}_N))
        return {{ NAME }}_NOT_FINITE;
    place(state->q, y, q);
    copy(q, state->q, {{ NAME }}_Q);
    copy(y, state->y, {{ NAME }}_N);
    return {{ NAME }}_OK;
}
{% endif %}

int {{ name }}_forces({{ name }}_state *state, const {{ name }}_parameters *parameters,
    const double y[{{ NAME }}_N], const double yd[{{ NAME }}_N], const double ydd[{{ NAME }}_N],
    double tau[{{ NAME }}_N])
{
    double found[{{ NAME }}_N];
    {{ name }}_state moved = *state;
    const int code = {{ name }}_move(&moved, y);
    if (code != {{ NAME }}_OK)
        return code;
    inverse(moved.q, y, yd, ydd, parameters->phi, found);
    if (!all_finite(found, {{ NAME }}_N))
        return {{ NAME }}_NOT_FINITE;
    copy(found, tau, {{ NAME }}_N);
    *state = moved;
    return {{ NAME }}_OK;
}
{% if quantities %}

int {{ name }}_forces_measured({{ name }}_state *state, const {{ name }}_parameters *parameters,
    const double s[{{ NAME }}_M], const double sd[{{ NAME }}_M], const double sdd[{{ NAME }}_M],
    double tau[{{ NAME }}_N], double found[3 * {{ NAME }}_N])
{
    double y[{{ NAME }}_N], yd[{{ NAME }}_N], ydd[{{ NAME }}_N], change[{{ NAME }}_N], weak[2];
    {{ name }}_state moved = *state;
    int i, k, code;
    if (!all_finite(s, {{ NAME }}_M) || !all_finite(sd, {{ NAME }}_M) || !all_finite(sdd, {{ NAME }}_M))
        return {{ NAME }}_NOT_FINITE;
    for (k = 0; k < {{ limits.most_fits }}; ++k) {
        fit(moved.q, moved.y, s, change, weak);
        if (!(weak[1] >= {{ limits.weak }}))
            return {{ NAME }}_WEAK;
        for (i = 0; i < {{ NAME }}_N; ++i)
            y[i] = moved.y[i] + change[i];
        code = {{ name }}_move(&moved, y);
        if (code != {{ NAME }}_OK)
            return code;
        if (weak[0] < {{ limits.last_step }}) {
            fit_rates(moved.q, moved.y, sd, sdd, yd, ydd);
            code = {{ name }}_forces(&moved, parameters, y, yd, ydd, tau);
            if (code != {{ NAME }}_OK)
                return code;
            if (found) {
                copy(y, found, {{ NAME }}_N);
                copy(yd, found + {{ NAME }}_N, {{ NAME }}_N);
                copy(ydd, found + 2 * {{ NAME }}_N, {{ NAME }}_N);
            }
            *state = moved;
            return {{ NAME }}_OK;
        }
    }
    return {{ NAME }}_NOT_CLOSED;
}
{% endif %}
{% if motion %}

int {{ name }}_motion({{ name }}_state *state, const {{ name }}_parameters *parameters,
    const double y[{{ NAME }}_N], const double yd[{{ NAME }}_N],
    double M[{{ NAME }}_N * {{ NAME }}_N], double h[{{ NAME }}_N])
{
    const int code = {{ name }}_move(state, y);
    if (code == {{ NAME }}_OK)
        equations(state->q, y, yd, parameters->phi, M, h);
    return code;
}
{% endif %}
{% if observation %}

#ifdef {{ NAME }}_WITH_OBSERVATION
{{ observation }}
int {{ name }}_observation({{ name }}_state *state,
    const double y[{{ NAME }}_N], const double yd[{{ NAME }}_N], const double ydd[{{ NAME }}_N],
    double W[{{ NAME }}_N * {{ NAME }}_P], double known[{{ NAME }}_N])
{
    const int code = {{ name }}_move(state, y);
    if (code == {{ NAME }}_OK)
        observe(state->q, y, yd, ydd, W, known);
    return code;
}
#endif
{% endif %}
