"""CUDA source of triangular factors of many tall matrices: one block for each of them.

Householder's reflections, a few rows at a time: thread j has column j of these rows in registers,
and the factor stands in shared memory. No product of a matrix with itself is formed.
"""

from __future__ import annotations

KERNEL = "factor"
# Rows that are taken at a time: as many as registers hold.
ROWS = 32
_TEXT = """\
#ifndef SHARED_MEMORY
#define SHARED_MEMORY extern __shared__ __align__(16) double shared[];
#endif
#define AT(k, j) ((j) * ((j) + 1) / 2 + (k))

/* A (matrices, groups, columns, rows), `pitch` numbers from one matrix to the next; weights
   (matrices, groups) of the rows. R (matrices, columns, columns), upper triangular, Rᵀ R = Aᵀ A. */
extern "C" __global__ void factor(
    int groups, int columns, int rows, long long pitch, const double *__restrict__ A,
    const double *__restrict__ weights, double *__restrict__ R_out)
{
    SHARED_MEMORY
    double *reflector = shared, *R = shared + 2 * (@ROWS@ + 2);
    const int j = threadIdx.x;
    const long long matrix = blockIdx.x;
    const double *own = A + matrix * pitch;
    for (int i = j; i < columns * (columns + 1) / 2; i += blockDim.x)
        R[i] = 0.0;
    __syncthreads();
    for (int group = 0; group < groups; group++) {
        const double weight = weights[matrix * groups + group];
        for (int start = 0; start < rows; start += @ROWS@) {
            double a[@ROWS@];
            const double *column = own + ((long long)group * columns + j) * rows + start;
            #pragma unroll
            for (int i = 0; i < @ROWS@; i++)
                a[i] = j < columns && start + i < rows ? weight * column[i] : 0.0;
            for (int k = 0; k < columns; k++) {
                /* two of them in turn: one is written while the other may still be read */
                double *v = reflector + (k % 2) * (@ROWS@ + 2);
                const double2 *pairs = (const double2 *)v;
                if (j == k) {
                    /* several sums side by side: one would wait for each product */
                    double sums[4] = {0.0, 0.0, 0.0, 0.0};
                    #pragma unroll
                    for (int i = 0; i < @ROWS@; i++)
                        sums[i % 4] += a[i] * a[i];
                    const double square = (sums[0] + sums[1]) + (sums[2] + sums[3]);
                    double tau = 0.0;
                    if (!(square == 0.0)) {
                        const double alpha = R[AT(k, k)];
                        const double norm = sqrt(alpha * alpha + square);
                        const double beta = alpha > 0.0 ? -norm : norm;
                        const double inverse = 1.0 / (alpha - beta);
                        #pragma unroll
                        for (int i = 0; i < @ROWS@; i++)
                            v[i] = a[i] * inverse;
                        tau = (beta - alpha) / beta;
                        R[AT(k, k)] = beta;
                    }
                    v[@ROWS@] = tau;
                }
                __syncthreads();
                const double tau = v[@ROWS@];
                if (j > k && j < columns && tau != 0.0) {
                    double sums[4] = {R[AT(k, j)], 0.0, 0.0, 0.0};
                    #pragma unroll
                    for (int i = 0; i < @ROWS@ / 2; i++) {
                        const double2 pair = pairs[i];
                        sums[i % 2] += pair.x * a[2 * i];
                        sums[2 + i % 2] += pair.y * a[2 * i + 1];
                    }
                    const double dot = tau * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
                    R[AT(k, j)] -= dot;
                    #pragma unroll
                    for (int i = 0; i < @ROWS@ / 2; i++) {
                        const double2 pair = pairs[i];
                        a[2 * i] -= dot * pair.x;
                        a[2 * i + 1] -= dot * pair.y;
                    }
                }
            }
            __syncthreads();
        }
    }
    for (int k = 0; k < columns && j < columns; k++)
        R_out[(matrix * columns + k) * columns + j] = k <= j ? R[AT(k, j)] : 0.0;
}
"""
FACTOR_SOURCE = _TEXT.replace("@ROWS@", str(ROWS))


def shared_numbers(columns: int) -> int:
    """Return how many numbers of shared memory a block needs."""
    return columns * (columns + 1) // 2 + 2 * (ROWS + 2)
