/* Values of all variables by their value reference, kept consistent; and an integrator. */

#include <float.h>
#include <stdio.h>

#include "mechanism.h"
#include "solver.c"

/* Value references: time, then of the coordinates that are not held (N_F of N_I, FREE says which)
   position, speed, acceleration and force, then parameters, forces of what is held, energies. */
enum {
    AT_Y = 1,
    AT_YD = AT_Y + N_F,
    AT_YDD = AT_YD + N_F,
    AT_TAU = AT_YDD + N_F,
    AT_PHI = AT_TAU + N_F,
    AT_HELD = AT_PHI + N_PHI,
    AT_ENERGY = AT_HELD + N_I - N_F,
    N_VALUES = AT_ENERGY + (INVERSE ? 0 : 2)
};
#define N_X (INVERSE ? 0 : 2 * N_F)

/* All that changes; no pointers, so that it can be copied as a whole. */
typedef struct {
    double value[N_VALUES];
    Pose pose;        /* the last one that was found */
    double tolerance; /* relative, of the integrator */
    double step;      /* that the integrator tries next, s */
    int fresh;        /* whether results are those of the present values */
} State;

static void reset_state(State *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < N_F; i++) {
        s->value[AT_Y + i] = START_Y[FREE[i]];
        s->value[AT_YD + i] = START_YD[FREE[i]];
    }
    memcpy(s->value + AT_PHI, START_PHI, N_PHI * sizeof(double));
    memcpy(s->pose.y, START_Y, N_I * sizeof(double));
    memcpy(s->pose.q, START_Q, N_Q * sizeof(double));
    start_pose(&s->pose); /* it is closed already */
    s->tolerance = TOLERANCE;
    s->step = 1e-3;
}

static int is_result(unsigned int at)
{
#if INVERSE
    return (at >= AT_TAU && at < AT_PHI) || at >= AT_HELD;
#else
    return (at >= AT_YDD && at < AT_TAU) || at >= AT_HELD;
#endif
}

/* Compute what depends on the present values. */
static int update(State *s)
{
    double *x = s->value, y[N_I], yd[N_I] = {0}, ydd[N_I] = {0}, tau[N_I] = {0};
    if (s->fresh) return FINE;
    memcpy(y, START_Y, sizeof y);
    for (int i = 0; i < N_F; i++) {
        y[FREE[i]] = x[AT_Y + i];
        yd[FREE[i]] = x[AT_YD + i];
        ydd[FREE[i]] = x[AT_YDD + i];
        tau[FREE[i]] = x[AT_TAU + i];
    }
#if INVERSE
    const int status = inverse_at(&s->pose, x + AT_PHI, y, yd, ydd, tau);
#else
    const int status = forward_at(&s->pose, x + AT_PHI, y, yd, tau, ydd, x + AT_ENERGY);
#endif
    if (status != FINE) return status;
    for (int i = 0; i < N_F; i++) {
        x[AT_YDD + i] = ydd[FREE[i]];
        x[AT_TAU + i] = tau[FREE[i]];
    }
    for (int i = N_F; i < N_I; i++) x[AT_HELD + i - N_F] = tau[FREE[i]];
    s->fresh = 1;
    return FINE;
}

static int set_value(State *s, unsigned int at, double x)
{
    if (at >= N_VALUES || is_result(at)) return 0;
    s->value[at] = x;
    if (at > 0) s->fresh = 0;
    return 1;
}

/* Returns FINE or why there is no value; `known` tells whether there is such a variable. */
static int get_value(State *s, unsigned int at, double *x, int *known)
{
    *known = at < N_VALUES;
    if (!*known) return FINE;
    const int status = is_result(at) ? update(s) : FINE;
    *x = s->value[at];
    return status;
}

static void set_states(State *s, const double *x)
{
    if (N_X) memcpy(s->value + AT_Y, x, N_X * sizeof(double));
    s->fresh = 0;
}

#if INVERSE

/* Forces depend on the present motion only. */
static int integrate(State *s, double end)
{
    s->value[0] = end;
    return update(s);
}

#else

/* Dormand and Prince: the state after a step from its rates k, and the error of order 5. */
static const double STAGE[7][6] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
static const double ERROR_OF[7] = {
    71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40,
};
#define MOST_INTEGRATION_STEPS 100000 /* per communication step */

static int state_rate(State *s, const double *x, double *rate)
{
    set_states(s, x);
    const int status = update(s);
    memcpy(rate, s->value + AT_YD, N_X * sizeof(double)); /* speeds and accelerations follow each other */
    return status;
}

/* Go on to a time with the forces held. On failure the state is that of the last step done. */
static int integrate(State *s, double end)
{
    double x[N_X], trial[N_X], k[7][N_X];
    int status = update(s);
    if (status != FINE) return status;
    memcpy(x, s->value + AT_Y, sizeof x);
    memcpy(k[0], s->value + AT_YD, sizeof k[0]);
    for (long n = 0; s->value[0] < end; n++) {
        const double start = s->value[0], left = end - start;
        const double smallest = 16.0 * DBL_EPSILON * fmax(fabs(start), fabs(end));
        if (left <= smallest) break;
        const double step = fmin(s->step, left);
        double error = 0.0;
        for (int i = 1; i < 7 && status == FINE; i++) {
            memcpy(trial, x, sizeof x);
            for (int j = 0; j < i; j++)
                for (int c = 0; c < N_X; c++) trial[c] += step * STAGE[i][j] * k[j][c];
            status = state_rate(s, trial, k[i]);
        }
        if (status == FINE)
            for (int c = 0; c < N_X; c++) {
                double e = 0.0;
                for (int i = 0; i < 7; i++) e += step * ERROR_OF[i] * k[i][c];
                e /= s->tolerance * (NOMINAL[c % N_F] + fmax(fabs(x[c]), fabs(trial[c])));
                if (!(fabs(e) <= error)) error = fabs(e);
            }
        if (status == FINE && error <= 1.0) {
            memcpy(x, trial, sizeof x);
            memcpy(k[0], k[6], sizeof k[0]);
            s->value[0] = step < left ? start + step : end;
        }
        /* a pose out of reach may mean that the step was too long */
        double change = 0.2;
        if (status == FINE && isfinite(error))
            change = error > 0.0 ? fmin(5.0, fmax(0.2, 0.9 * pow(error, -0.2))) : 5.0;
        if (step == s->step || change < 1.0) s->step = step * change;
        if (s->value[0] < end && (s->step < smallest || n > MOST_INTEGRATION_STEPS)) {
            const int reason = status == FINE ? NOT_INTEGRATED : status;
            set_states(s, x);
            update(s);
            return reason;
        }
        status = FINE;
    }
    s->value[0] = end;
    set_states(s, x);
    return update(s);
}

#endif
