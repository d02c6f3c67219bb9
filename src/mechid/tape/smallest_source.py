"""CUDA source of the smallest singular values of many small matrices, one thread for each.

JᵀJ is factored (Cholesky), and the largest eigenvalue of its inverse found by Lanczos' method: the
square of the smallest singular value has an error of some roundings of the square of the largest.
"""

from __future__ import annotations

KERNEL = "smallest"
# Steps of Lanczos' method, and of Newton's for the largest root of what it gives.
_LANCZOS, _NEWTON = 16, 40
_TEXT = """\
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j))

/* `values` (motions, …, block), `pitch` numbers from one motion to the next: entries of a matrix
   with @N@ columns, row by row, at the given rows and columns. */
extern "C" __global__ void smallest(
    long long n, long long block, long long pitch, int entries, const int *__restrict__ row,
    const int *__restrict__ column, const double *__restrict__ values, double *__restrict__ out)
{
    const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    const double *own = values + (k / block) * pitch + k % block;
    double L[@N@ * (@N@ + 1) / 2];
    for (int i = 0; i < @N@ * (@N@ + 1) / 2; i++)
        L[i] = 0.0;
    for (int e = 0; e < entries; e++)
        for (int f = e; f >= 0 && row[f] == row[e]; f--) { /* columns of a row increase */
            L[AT(column[e], column[f])] += own[e * block] * own[f * block];
        }
    bool fine = true;
    for (int j = 0; j < @N@; j++) { /* the diagonal holds inverses */
        double pivot = L[AT(j, j)];
        for (int m = 0; m < j; m++)
            pivot -= L[AT(j, m)] * L[AT(j, m)];
        fine = fine && pivot > 0.0;
        const double inverse = 1.0 / sqrt(pivot);
        L[AT(j, j)] = inverse;
        for (int i = j + 1; i < @N@; i++) {
            double x = L[AT(i, j)];
            for (int m = 0; m < j; m++)
                x -= L[AT(i, m)] * L[AT(j, m)];
            L[AT(i, j)] = x * inverse;
        }
    }
    double now[@N@], before[@N@], next[@N@], a[@LANCZOS@], b[@LANCZOS@];
    double length = 0.0;
    for (int i = 0; i < @N@; i++) { /* a beginning without symmetry */
        now[i] = 1.0 + 0.37 * ((i * 7) % 5) - 0.61 * (i % 3);
        before[i] = 0.0;
        length += now[i] * now[i];
    }
    for (int i = 0; i < @N@; i++)
        now[i] /= sqrt(length);
    int steps = 0;
    double beta = 0.0, bound = 0.0;
    while (fine && steps < @LANCZOS@) {
        for (int i = 0; i < @N@; i++) {
            double x = now[i];
            for (int m = 0; m < i; m++)
                x -= L[AT(i, m)] * next[m];
            next[i] = x * L[AT(i, i)];
        }
        for (int i = @N@ - 1; i >= 0; i--) {
            double x = next[i];
            for (int m = i + 1; m < @N@; m++)
                x -= L[AT(m, i)] * next[m];
            next[i] = x * L[AT(i, i)];
        }
        double alpha = 0.0, square = 0.0;
        for (int i = 0; i < @N@; i++)
            alpha += now[i] * next[i];
        for (int i = 0; i < @N@; i++) {
            next[i] -= alpha * now[i] + beta * before[i];
            square += next[i] * next[i];
        }
        a[steps] = alpha;
        b[steps] = beta * beta;
        beta = sqrt(square);
        bound = fmax(bound, alpha + sqrt(b[steps]) + beta);
        steps++;
        if (!(beta > 1e-14 * bound))
            break;
        for (int i = 0; i < @N@; i++) {
            before[i] = now[i];
            now[i] = next[i] / beta;
        }
    }
    /* the largest root, from above: Newton's method falls towards it without passing it */
    double root = 1.0;
    for (int step = 0; fine && step < @NEWTON@; step++) {
        double p = 1.0, p_before = 0.0, d = 0.0, d_before = 0.0;
        for (int i = 0; i < steps; i++) {
            const double x = root - a[i] / bound, square = b[i] / (bound * bound);
            const double p_next = x * p - square * p_before;
            const double d_next = p + x * d - square * d_before;
            p_before = p, p = p_next, d_before = d, d = d_next;
        }
        const double change = p / d;
        if (!(change > 1e-15 * root))
            break;
        root -= change;
    }
    out[k] = fine ? 1.0 / sqrt(root * bound) : 0.0;
}
"""


def smallest_source(n: int) -> str:
    """Return the source for matrices of n columns."""
    text = _TEXT.replace("@LANCZOS@", str(min(n, _LANCZOS))).replace("@NEWTON@", str(_NEWTON))
    return text.replace("@N@", str(n))
