/* Closure and equations of motion. What depends on the mechanism is in mechanism.h: sizes, tables
   and the functions closure_rows, row_rates, advanced, equations or forces. No heap, no recursion. */

#include <math.h>
#include <string.h>

enum { FINE, NOT_CLOSED, SINGULAR, CROSSED, NO_MASS, NOT_INTEGRATED };

static const char *const REASON[] = {
    "",
    "the loops cannot be closed: the pose is out of reach",
    "the pose is singular: its speeds are not determined",
    "a singular pose lies on the way",
    "the mass matrix is singular: give every body that moves a mass",
    "the steps of the integration have become too short: friction at standstill, or stiff springs",
};

/* The same bounds as in mechid.kinematics.kernels, which explains them. */
#define LAST_STEP 1e-9
#define LONGEST_STEP 0.5
#define MOST_STEPS 25
#define SINGULAR_RATIO 1e-8
#define CLOSED 1e-9
#define LONGEST_PREDICTION 0.3
#define TRUSTED_PART 0.5
#define TRUSTED_SIZE 1e-8
#define SHORTEST_PART (1.0 / 4096.0)
#define SHORTEST_STEP 1e-6
#define STEPS_AHEAD 1e6

/* Arrays of no length are not allowed. */
#define SIZE(n) ((n) > 0 ? (n) : 1)

/* A pose with the factors of its closure. */
typedef struct {
    double y[N_I], q[N_Q], R[N_I * N_V];
    double J[SIZE(N_ROWS * N_V)];
    double factors[SIZE(N_ROWS * N_V)];
    int pivot[N_V];
    double sign[SIZE(N_PIECES)];
} Pose;

/* Factor (m, n), m >= n, as LU with row pivoting; return the ratio of the pivots. */
static double factor(double *a, int m, int n, int *pivot, double *sign)
{
    double smallest = HUGE_VAL, largest = 0.0;
    *sign = 1.0;
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < m; r++)
            if (fabs(a[r * n + c]) > fabs(a[best * n + c])) best = r;
        pivot[c] = best;
        const double x = a[best * n + c];
        if (!(fabs(x) > 0.0)) return 0.0;
        if (best != c) {
            *sign = -*sign;
            for (int j = 0; j < n; j++) {
                const double other = a[c * n + j];
                a[c * n + j] = a[best * n + j];
                a[best * n + j] = other;
            }
        }
        if (x < 0.0) *sign = -*sign;
        smallest = fmin(smallest, fabs(x));
        largest = fmax(largest, fabs(x));
        for (int r = c + 1; r < m; r++) {
            const double f = a[r * n + c] /= x;
            for (int j = c + 1; j < n; j++) a[r * n + j] -= f * a[c * n + j];
        }
    }
    return n ? smallest / largest : 1.0;
}

static void substitute(const double *a, int n, const int *pivot, double *b)
{
    for (int c = 0; c < n; c++) {
        const double x = b[pivot[c]];
        b[pivot[c]] = b[c];
        b[c] = x;
    }
    for (int r = 1; r < n; r++)
        for (int c = 0; c < r; c++) b[r] -= a[r * n + c] * b[c];
    for (int r = n - 1; r >= 0; r--) {
        for (int c = r + 1; c < n; c++) b[r] -= a[r * n + c] * b[c];
        b[r] /= a[r * n + r];
    }
}

/* Fill J, gap and factors at the coordinates of a pose; return the smallest ratio of pivots. */
static double factor_pose(Pose *p, double *gap)
{
    double worst = 1.0;
    closure_rows(p->y, p->q, gap, p->J);
    for (int i = 0, at = 0; i < N_PIECES; i++) {
        const int *piece = PIECE[i], m = piece[1] - piece[0], n = piece[3] - piece[2];
        for (int r = 0; r < m; r++)
            for (int c = 0; c < n; c++)
                p->factors[at + r * n + c] = p->J[(piece[0] + r) * N_V + COLUMN[piece[2] + c]];
        worst = fmin(worst, factor(p->factors + at, m, n, p->pivot + piece[2], &p->sign[i]));
        at += m * n;
    }
    return worst;
}

/* Solve J u = right, u and J dimensionless; independent columns of u are given. */
static void solve_rows(const Pose *p, const double *right, double *u)
{
    double b[SIZE(N_ROWS)];
    for (int i = 0, at = 0; i < N_PIECES; i++) {
        const int *piece = PIECE[i], m = piece[1] - piece[0], n = piece[3] - piece[2];
        for (int r = 0; r < m; r++) {
            b[r] = right[piece[0] + r];
            for (int c = 0; c < piece[2]; c++)
                b[r] -= p->J[(piece[0] + r) * N_V + COLUMN[c]] * u[COLUMN[c]];
        }
        substitute(p->factors + at, n, p->pivot + piece[2], b);
        for (int c = 0; c < n; c++) u[COLUMN[piece[2] + c]] = b[c];
        at += m * n;
    }
}

static double step_size(const double *step)
{
    double size = 0.0;
    for (int c = 0; c < N_V; c++) {
        const double x = fabs(step[c]) * WEIGHT[c];
        if (!(x <= size)) size = x;
    }
    return size;
}

static void move_by(Pose *p, const double *step)
{
    double q[N_Q];
    memcpy(q, p->q, sizeof q);
    advanced(q, step, p->q);
}

/* Newton's method from the coordinates of a pose; `moved` is the size of all its steps. */
static int close_pose(Pose *p, double *moved)
{
    double gap[SIZE(N_ROWS)], u[N_V], step[N_V];
    *moved = 0.0;
    for (int i = 0; i < N_DIRECT; i++) p->q[DIRECT[i][0]] = p->y[DIRECT[i][2]];
    int done = 0;
    for (int k = 0; k < MOST_STEPS; k++) {
        const double ratio = factor_pose(p, gap);
        double open = 0.0;
        for (int r = 0; r < N_ROWS; r++) {
            if (!(fabs(gap[r]) <= open)) open = fabs(gap[r]);
            gap[r] = -gap[r];
        }
        if (done || N_ROWS == 0)
            return !(open <= CLOSED) ? NOT_CLOSED : ratio > SINGULAR_RATIO ? FINE : SINGULAR;
        if (ratio < 1e-15) return open <= CLOSED ? SINGULAR : NOT_CLOSED;
        memset(u, 0, sizeof u);
        solve_rows(p, gap, u);
        for (int c = 0; c < N_V; c++) step[c] = u[c] * SCALE[c];
        const double size = step_size(step);
        if (!isfinite(size)) return NOT_CLOSED;
        if (size > LONGEST_STEP)
            for (int c = 0; c < N_V; c++) step[c] *= LONGEST_STEP / size;
        move_by(p, step);
        *moved += size;
        done = size < LAST_STEP;
    }
    return NOT_CLOSED;
}

/* Fill R: the tree speeds per unit of each independent speed. */
static void admissible(Pose *p)
{
    double right[SIZE(N_ROWS)], u[N_V];
    for (int i = 0; i < N_I; i++) {
        memset(u, 0, sizeof u);
        for (int d = 0; d < N_DIRECT; d++)
            if (DIRECT[d][2] == i) u[DIRECT[d][1]] = 1.0 / SCALE[DIRECT[d][1]];
        for (int r = 0; r < N_ROWS; r++) right[r] = DRIVER[r] == i ? ROW_SCALE[r] : 0.0;
        solve_rows(p, right, u);
        for (int c = 0; c < N_V; c++) p->R[i * N_V + c] = u[c] * SCALE[c];
    }
}

/* Whether a singular pose lies between two poses: a determinant has changed its sign. Where there
   are redundant rows, that of J_last^T J takes its place. */
static int crossed(const Pose *last, const Pose *now)
{
    for (int i = 0; i < N_PIECES; i++) {
        const int *piece = PIECE[i], m = piece[1] - piece[0], n = piece[3] - piece[2];
        double sign = last->sign[i] * now->sign[i];
        if (m > n) {
            double product[SIZE(N_ROWS * N_V)];
            int pivot[N_V];
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++) {
                    double x = 0.0;
                    for (int r = piece[0]; r < piece[1]; r++)
                        x += last->J[r * N_V + COLUMN[piece[2] + a]]
                           * now->J[r * N_V + COLUMN[piece[2] + b]];
                    product[a * n + b] = x;
                }
            if (!(factor(product, n, n, pivot, &sign) > 0.0)) return 1;
        }
        if (!(sign > 0.0)) return 1;
    }
    return 0;
}

/* Close the pose p, whose y, q are a guess, and make it one to start from. */
static int start_pose(Pose *p)
{
    double moved;
    const int status = close_pose(p, &moved);
    if (status == FINE) admissible(p);
    return status;
}

/* Carry a closed pose along the straight line to y_to, in steps that stay on the branch. Where that
   fails, p is as it was. */
static int follow(Pose *p, const double *y_to)
{
    const Pose from = *p;
    Pose trial;
    double reached = 0.0, part = 1.0, step[N_V];
    int refused = FINE;
    for (int i = 0; i < N_I; i++)
        if (!isfinite(y_to[i])) return NOT_CLOSED;
    while (reached < 1.0) {
        part = fmin(part, 1.0 - reached);
        double size = 0.0;
        for (int k = 0; k < 2; k++) {
            double detailed = 0.0;
            memset(step, 0, sizeof step);
            for (int i = 0; i < N_I; i++)
                for (int c = 0; c < N_V; c++)
                    step[c] += p->R[i * N_V + c] * (y_to[i] - from.y[i]) * part;
            for (int c = 0; c < N_V; c++)
                detailed = fmax(detailed, fabs(step[c]) * WEIGHT[c] / DETAIL[c]);
            size = step_size(step);
            if (detailed <= LONGEST_PREDICTION) break;
            part *= LONGEST_PREDICTION / detailed;
        }
        if (part * STEPS_AHEAD < 1.0 - reached) {
            *p = from;
            return NOT_CLOSED;
        }
        const double target = reached + part >= 1.0 ? 1.0 : reached + part;
        trial = *p;
        for (int i = 0; i < N_I; i++)
            trial.y[i] = target == 1.0 ? y_to[i] : from.y[i] + target * (y_to[i] - from.y[i]);
        move_by(&trial, step);
        double moved;
        int status = close_pose(&trial, &moved);
        if (status == FINE && crossed(p, &trial)) status = CROSSED;
        const double trusted = TRUSTED_PART * size + TRUSTED_SIZE;
        int accepted = status == FINE && moved <= trusted;
        if (accepted) {
            admissible(&trial);
            for (int c = 0; c < N_V; c++) {
                step[c] = 0.0;
                for (int i = 0; i < N_I; i++)
                    step[c] += (trial.R[i * N_V + c] - p->R[i * N_V + c])
                             * (y_to[i] - from.y[i]) * part;
            }
            accepted = step_size(step) <= trusted;
        }
        if (accepted) {
            *p = trial;
            reached = target;
            part *= 2.0;
            refused = FINE;
        } else {
            if (refused == FINE || (refused == NOT_CLOSED && status != FINE)) refused = status;
            part *= 0.5;
            if (part < SHORTEST_PART && 0.5 * size < SHORTEST_STEP) {
                *p = from;
                return refused == FINE ? NOT_CLOSED : refused;
            }
        }
    }
    return FINE;
}

/* Fill v = R yd and b, the accelerations of the tree at ydd = 0. */
static void rates(const Pose *p, const double *yd, double *v, double *b)
{
    double rate[SIZE(N_ROWS)], u[N_V];
    memset(v, 0, N_V * sizeof *v);
    for (int i = 0; i < N_I; i++)
        for (int c = 0; c < N_V; c++) v[c] += p->R[i * N_V + c] * yd[i];
    row_rates(p->q, v, rate);
    for (int r = 0; r < N_ROWS; r++) rate[r] = -rate[r];
    memset(u, 0, sizeof u);
    solve_rows(p, rate, u);
    for (int c = 0; c < N_V; c++) b[c] = u[c] * SCALE[c];
}

#if INVERSE

/* Forces tau of a motion; p is followed from where it was. */
static int inverse_at(Pose *p, const double *phi, const double *y, const double *yd,
                      const double *ydd, double *tau)
{
    double v[N_V], vd[N_V];
    const int status = follow(p, y);
    if (status != FINE) return status;
    rates(p, yd, v, vd);
    for (int i = 0; i < N_I; i++)
        for (int c = 0; c < N_V; c++) vd[c] += p->R[i * N_V + c] * ydd[i];
    forces(p->q, v, vd, p->R, phi, tau);
    return FINE;
}

#else

/* Accelerations and energies of a state under forces tau; p is followed from where it was. The last
   N_I - N_F coordinates are held: their forces are results. */
static int forward_at(Pose *p, const double *phi, const double *y, const double *yd, double *tau,
                      double *ydd, double *energy)
{
    double v[N_V], b[N_V], M[N_I * N_I], h[N_I], free[N_F * N_F], x[N_F], sign;
    int pivot[N_F];
    const int status = follow(p, y);
    if (status != FINE) return status;
    rates(p, yd, v, b);
    equations(p->q, v, b, p->R, phi, h, M, energy);
    for (int i = 0; i < N_F; i++) {
        x[i] = tau[FREE[i]] - h[FREE[i]];
        for (int j = 0; j < N_F; j++) free[i * N_F + j] = M[FREE[i] * N_I + FREE[j]];
    }
    if (!(factor(free, N_F, N_F, pivot, &sign) > 0.0)) return NO_MASS;
    substitute(free, N_F, pivot, x);
    memset(ydd, 0, N_I * sizeof *ydd);
    for (int i = 0; i < N_F; i++) ydd[FREE[i]] = x[i];
    for (int i = N_F; i < N_I; i++) {
        tau[FREE[i]] = h[FREE[i]];
        for (int j = 0; j < N_F; j++) tau[FREE[i]] += M[FREE[i] * N_I + FREE[j]] * x[j];
    }
    return FINE;
}

#endif
