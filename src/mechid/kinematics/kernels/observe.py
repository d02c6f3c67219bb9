"""Motion of frames that ride on links: bodies, points, joint frames."""

import numpy as np

from mechid.kinematics.kernels.jit import allocating_kernel
from mechid.kinematics.kernels.links import move_links, place_links
from mechid.kinematics.kernels.rows import point_rates


@allocating_kernel
def observe_frames(t, first, last, q, v, vd, link, local_rotation, local_origin, rotation, vectors):
    """Fill the motion of frame f (fixed in link[f]) for samples first … last - 1.

    `rotation` (N, f, 3, 3); `vectors` (5, N, f, 3): position, velocity, angular velocity,
    acceleration, angular acceleration; all in ground axes.
    """
    every = np.arange(t.links.size)
    R = np.zeros((t.links.size, 3, 3), dtype=q.dtype)
    moving = np.zeros((5, t.links.size, 3), dtype=q.dtype)
    axes = np.zeros((t.columns.size, 3), dtype=q.dtype)
    for i in range(3):
        R[0, i, i] = 1.0
    for s in range(first, last):
        place_links(t, every, 1, t.links.size, q[s], R, moving[0], axes)
        move_links(t, v[s], vd[s], moving, axes)
        for f in range(link.size):
            k = link[f]
            d0, d1, d2 = local_origin[f, 0], local_origin[f, 1], local_origin[f, 2]
            x = R[k, 0, 0] * d0 + R[k, 0, 1] * d1 + R[k, 0, 2] * d2
            y = R[k, 1, 0] * d0 + R[k, 1, 1] * d1 + R[k, 1, 2] * d2
            z = R[k, 2, 0] * d0 + R[k, 2, 1] * d1 + R[k, 2, 2] * d2
            v0, v1, v2, a0, a1, a2 = point_rates(moving, k, x, y, z)
            vectors[0, s, f, 0] = moving[0, k, 0] + x
            vectors[0, s, f, 1] = moving[0, k, 1] + y
            vectors[0, s, f, 2] = moving[0, k, 2] + z
            vectors[1, s, f, 0], vectors[1, s, f, 1], vectors[1, s, f, 2] = v0, v1, v2
            vectors[3, s, f, 0], vectors[3, s, f, 1], vectors[3, s, f, 2] = a0, a1, a2
            for i in range(3):
                vectors[2, s, f, i] = moving[2, k, i]
                vectors[4, s, f, i] = moving[4, k, i]
                for j in range(3):
                    rotation[s, f, i, j] = (
                        R[k, i, 0] * local_rotation[f, 0, j]
                        + R[k, i, 1] * local_rotation[f, 1, j]
                        + R[k, i, 2] * local_rotation[f, 2, j]
                    )
