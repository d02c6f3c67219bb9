/* Samples along a path, one after the other: Newton's method until the loops are closed, then W and
   the prediction of the next sample. The three functions are generated; see casadi_formulas.py. */

#include <string.h>

#include "casadi_parts.c"

#define CLOSED 1e-12 /* m: largest error of a row, as of the other peers */
#define MOST_STEPS 20

/* Return the number of Newton steps, or -1 - k if sample k does not converge. */
long observe(long n, long n_q, long n_i, long n_w, double dt, const double *home, const double *y,
             const double *yd, const double *ydd, double *W) {
  double q[n_q], next[n_q], dy[n_i], gap_now, half = 0.5 * dt * dt;
  long total = 0;
  memcpy(q, home, sizeof q);
  for (long k = 0; k < n; ++k, y += n_i, yd += n_i, ydd += n_i, W += n_w) {
    const double *pose[] = {q, y};
    double *moved[] = {next}, *found[] = {&gap_now};
    int steps = 0;
    do {
      if (++steps > MOST_STEPS) return -1 - k;
      newton(pose, moved, 0, 0, 0);
      memcpy(q, next, sizeof q);
      gap(pose, found, 0, 0, 0);
    } while (!(gap_now <= CLOSED));
    total += steps;
    for (long i = 0; i < n_i; ++i) dy[i] = k + 1 < n ? y[n_i + i] - y[i] : 0.0;
    const double *state[] = {q, yd, ydd, dy, &half};
    double *out[] = {W, next};
    finish(state, out, 0, 0, 0);
    memcpy(q, next, sizeof q);
  }
  return total;
}
