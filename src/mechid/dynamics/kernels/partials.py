"""Partial velocities: the velocity of every link per unit speed of each independent coordinate."""

from mechid.kinematics.kernels.jit import kernel
from mechid.kinematics.tables import BALL


@kernel
def place_partials(t, reach_start, reach, R, origin, axes, partial_velocity, partial_omega):
    """Fill partial velocities (of link origins) and angular velocities, (n, n_links, 3).

    R (n, n_v) are the tree speeds per unit of each of n speeds: the admissible motions, or the
    unit matrix for the tree itself. reach[reach_start[k]:reach_start[k + 1]] are the speeds that
    move link k; the others keep zeros, which the arrays must hold on entry.
    """
    for k in range(1, t.links.size):
        link = t.links[k]
        p, c = link.parent, link.v
        n = 3 if link.kind == BALL else 1
        d0 = origin[k, 0] - origin[p, 0]
        d1 = origin[k, 1] - origin[p, 1]
        d2 = origin[k, 2] - origin[p, 2]
        for i in range(reach_start[k], reach_start[k + 1]):
            y = reach[i]
            o0, o1, o2 = partial_omega[y, p, 0], partial_omega[y, p, 1], partial_omega[y, p, 2]
            v0 = partial_velocity[y, p, 0] + o1 * d2 - o2 * d1
            v1 = partial_velocity[y, p, 1] + o2 * d0 - o0 * d2
            v2 = partial_velocity[y, p, 2] + o0 * d1 - o1 * d0
            for j in range(c, c + n):
                x = R[y, j]
                turn, shift = t.columns[j].turn * x, t.columns[j].shift * x
                o0, o1, o2 = (
                    o0 + axes[j, 0] * turn,
                    o1 + axes[j, 1] * turn,
                    o2 + axes[j, 2] * turn,
                )
                v0, v1, v2 = (
                    v0 + axes[j, 0] * shift,
                    v1 + axes[j, 1] * shift,
                    v2 + axes[j, 2] * shift,
                )
            partial_velocity[y, k, 0], partial_velocity[y, k, 1] = v0, v1
            partial_velocity[y, k, 2] = v2
            partial_omega[y, k, 0], partial_omega[y, k, 1], partial_omega[y, k, 2] = o0, o1, o2
