"""CUDA source that reaches samples from home, one thread for each (see `reach`)."""

from __future__ import annotations

from mechid.kinematics.engine.reach import Reach
from mechid.kinematics.kernels.follow import LONGEST_PREDICTION
from mechid.tape.emit_c import Array, c_function, c_prelude, literal
from mechid.tape.emit_cuda import CUDA, CUDA_HEAD
from mechid.tape.schedule import by_demand

KERNEL = "reach_samples"
# A Newton step below this leaves an error of its square, which is rounding; `finish` checks it.
LAST_STEP = 1e-8
# Predictions on the way are planned to be this part of the longest, because tangents change.
PLANNED_PART = 0.7
# More steps or corrections than these are a matter for the kernels.
MOST_STEPS = 64
MOST_CORRECTIONS = 8

_TEXT = """\
/* y, yd, ydd: (motions, n_i, block), out: (motions, n_out, block), fine: (n,) */
extern "C" __global__ void @KERNEL@(
    long long n, long long block, const double *__restrict__ y_wanted,
    const double *__restrict__ yd_wanted, const double *__restrict__ ydd_wanted,
    double *__restrict__ results, unsigned char *__restrict__ fine_samples)
{
    const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    const long long motion = k / block, place = k - motion * block;
    const long long from = motion * @N_I@ * block + place;
    const double home_y[] = {@HOME_Y@};
    double y_to[@N_I@], y[@N_I@], change[@N_I@], q[@N_Q@];
    double first[@N_U@], moved[@N_U@], predicted[2], fine[1];
    #pragma unroll
    for (int i = 0; i < @N_I@; i++)
        y_to[i] = y_wanted[from + i * block];
    int steps = 1, s = 0;
    bool on_way = true;
    do {
        s++;
        #pragma unroll
        for (int i = 0; i < @N_I@; i++) {
            change[i] = (y_to[i] - home_y[i]) / steps;
            y[i] = s == steps ? y_to[i] : home_y[i] + s * change[i];
        }
        if (s == 1) {
            leave(y, q, first, predicted);
            if (steps == 1 && !(predicted[1] <= @LONGEST@)) { /* again, in shorter steps */
                const double parts = ceil(predicted[1] / @PLANNED@);
                if (!(parts <= @MOST_STEPS@)) {
                    fine_samples[k] = 0;
                    return;
                }
                steps = (int)parts;
                s = 0;
                continue;
            }
        }
        #pragma unroll
        for (int i = 0; i < @N_U@; i++)
            moved[i] = 0.0;
@CLOSE@
        if (s < steps) {
            between(y, q, change, first, moved, predicted, fine);
            on_way = on_way && fine[0] == 1.0;
        }
    } while (s < steps);
    double yd[@N_I@], ydd[@N_I@];
    #pragma unroll
    for (int i = 0; i < @N_I@; i++) {
        yd[i] = yd_wanted[from + i * block];
        ydd[i] = ydd_wanted[from + i * block];
    }
    finish(y, yd, ydd, q, change, first, moved, predicted, fine,
           results + motion * @N_OUT@ * block + place, block);
    fine_samples[k] = on_way && fine[0] == 1.0;
}
"""
_CLOSE = """\
        bool predicting = s > 1;
        for (int c = 0; c < @MOST_CORRECTIONS@; c++) {
            double q_next[@N_Q@], step[@N_U@], size[1];
            correct(y, q, q_next, step, size);
            #pragma unroll
            for (int i = 0; i < @N_Q@; i++)
                q[i] = q_next[i];
            if (predicting) {
                predicting = false;
                #pragma unroll
                for (int i = 0; i < @N_U@; i++)
                    first[i] = step[i];
                measure(change, first, predicted);
                on_way = on_way && predicted[1] <= @LONGEST@;
                c--;
            } else {
                #pragma unroll
                for (int i = 0; i < @N_U@; i++)
                    moved[i] += step[i];
                if (size[0] < @LAST_STEP@)
                    break;
            }
        }"""


def reach_source(reach: Reach) -> str:
    """Return the source of a module with the kernel `reach_samples`."""
    at = reach.slots
    y, yd, ydd, q = Array("y", at.y), Array("yd", at.yd), Array("ydd", at.ydd), Array("q", at.q)
    q_next, step, size = Array("q_next", at.q_next), Array("step", at.step), Array("size", at.size)
    change, first, moved = (
        Array("change", at.change),
        Array("first", at.first),
        Array("moved", at.moved),
    )
    predicted, fine = Array("predicted", at.predicted), Array("fine", at.fine)
    guarded = (y, q, change, first, moved, predicted, fine)
    functions = [
        c_function(reach.leave, "leave", (y, q_next, first, predicted), dialect=CUDA),
        c_function(reach.between, "between", guarded, dialect=CUDA),
        c_function(
            by_demand(reach.finish),
            "finish",
            (y, yd, ydd, *guarded[1:], Array("out", at.out, "stride")),
            parameters=("long long stride",),
            dialect=CUDA,
        ),
    ]
    if reach.correct is not None:
        closing = (y, q, q_next, step, size)
        functions.append(c_function(reach.correct, "correct", closing, dialect=CUDA))
        measured = (change, first, predicted)
        functions.append(c_function(reach.measure, "measure", measured, dialect=CUDA))
    text = _TEXT.replace("@CLOSE@", _CLOSE if reach.correct is not None else "")
    for word, value in {
        "KERNEL": KERNEL,
        "N_I": at.y.size,
        "N_Q": at.q.size,
        "N_U": max(at.step.size, 1),  # C has no arrays without elements
        "N_OUT": at.out.size,
        "HOME_Y": ", ".join(literal(float(x)) for x in reach.home_y),
        "LONGEST": literal(LONGEST_PREDICTION),
        "PLANNED": literal(PLANNED_PART * LONGEST_PREDICTION),
        "MOST_STEPS": str(MOST_STEPS),
        "MOST_CORRECTIONS": str(MOST_CORRECTIONS),
        "LAST_STEP": literal(LAST_STEP),
    }.items():
        text = text.replace(f"@{word}@", str(value))
    return CUDA_HEAD + c_prelude(CUDA) + "\n".join(functions) + text
