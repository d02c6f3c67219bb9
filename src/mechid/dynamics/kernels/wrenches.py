"""Forces on every body as wrenches (force, moment), all about the origin of the axes they are in.

`demand` (n_b + 1, 6) takes what joints have to supply to each body: what its motion asks for, less
what weight, elements and actuators give. Its last row is the ground's.
"""

from mechid.dynamics.kernels.bodies import body_pose, newton_euler
from mechid.dynamics.kernels.measures import element_factor, marker_offset, placed_direction
from mechid.dynamics.tables import COORDINATE, DOT, LENGTH, PUSH, SPIN, SUM, TURN, TURNS
from mechid.kinematics.kernels.jit import kernel


@kernel
def add_force(demand, b, f0, f1, f2, x0, x1, x2):
    """Add a force at the place x to body b."""
    demand[b, 0] += f0
    demand[b, 1] += f1
    demand[b, 2] += f2
    demand[b, 3] += x1 * f2 - x2 * f1
    demand[b, 4] += x2 * f0 - x0 * f2
    demand[b, 5] += x0 * f1 - x1 * f0


@kernel
def add_moment(demand, b, m0, m1, m2):
    """Add a moment to body b."""
    demand[b, 3] += m0
    demand[b, 4] += m1
    demand[b, 5] += m2


@kernel
def demand_bodies(d, phi, rotation, vectors, demand):
    """Add what the motion and the weight of every body ask for."""
    for b in range(d.body_link.size):
        k = d.body_link[b]
        pose = body_pose(d, b, rotation)
        f0, f1, f2, n0, n1, n2 = newton_euler(d, b, phi, vectors, pose)
        r00, r01, r02, r10, r11, r12, r20, r21, r22, s0, s1, s2 = pose
        add_force(
            demand,
            b,
            r00 * f0 + r01 * f1 + r02 * f2,
            r10 * f0 + r11 * f1 + r12 * f2,
            r20 * f0 + r21 * f1 + r22 * f2,
            vectors[0, k, 0] + s0,
            vectors[0, k, 1] + s1,
            vectors[0, k, 2] + s2,
        )
        add_moment(
            demand,
            b,
            r00 * n0 + r01 * n1 + r02 * n2,
            r10 * n0 + r11 * n1 + r12 * n2,
            r20 * n0 + r21 * n1 + r22 * n2,
        )


@kernel
def element_forces(d, phi, values, force):
    """Fill force (n_measures,): what the elements ask for on each measure; sums pass theirs on."""
    for m in range(force.size):
        force[m] = 0.0
    first = 10 * d.body_link.size
    for e in range(d.columns.size):
        element = d.columns[e]
        force[element.measure] += phi[first + e] * element_factor(element, values)
    for e in range(d.known.size):
        element = d.known[e]
        force[element.measure] += element.known * element_factor(element, values)
    for m in range(force.size - 1, -1, -1):  # the terms of a sum stand before it
        measure = d.measures[m]
        if measure.kind == SUM:
            for n in range(measure.start, measure.end):
                force[d.terms[n].measure] += d.terms[n].factor * force[m]


@kernel
def demand_measures(d, force, rotation, origin, on_columns, demand):
    """Add forces on measures; those on coordinates of tree joints go to on_columns (n_v,)."""
    for m in range(d.measures.size):
        measure, f = d.measures[m], force[m]
        if measure.kind == SUM or f == 0.0:
            continue
        a, b = measure.body_a, measure.body_b
        if measure.kind == COORDINATE:
            on_columns[measure.v] += f
        elif measure.kind == TURN or measure.kind == TURNS:
            n0, n1, n2 = placed_direction(d, measure.axis, rotation)
            add_moment(demand, b, f * n0, f * n1, f * n2)
            add_moment(demand, a, -f * n0, -f * n1, -f * n2)
        elif measure.kind == DOT:
            x0, x1, x2 = placed_direction(d, measure.x_a, rotation)
            z0, z1, z2 = placed_direction(d, measure.x_b, rotation)
            n0, n1, n2 = z1 * x2 - z2 * x1, z2 * x0 - z0 * x2, z0 * x1 - z1 * x0
            add_moment(demand, b, f * n0, f * n1, f * n2)
            add_moment(demand, a, -f * n0, -f * n1, -f * n2)
        elif measure.kind == PUSH or measure.kind == SPIN:  # from outside: nothing pushes back
            n0, n1, n2 = placed_direction(d, measure.axis, rotation)
            if measure.kind == SPIN:
                add_moment(demand, b, f * n0, f * n1, f * n2)
            else:
                k = measure.link_b
                b0, b1, b2 = marker_offset(d, measure.marker_b, rotation)
                b0, b1, b2 = b0 + origin[k, 0], b1 + origin[k, 1], b2 + origin[k, 2]
                add_force(demand, b, f * n0, f * n1, f * n2, b0, b1, b2)
        else:
            ka, kb = d.marker_link[measure.marker_a], d.marker_link[measure.marker_b]
            b0, b1, b2 = marker_offset(d, measure.marker_b, rotation)
            b0, b1, b2 = b0 + origin[kb, 0], b1 + origin[kb, 1], b2 + origin[kb, 2]
            if measure.kind == LENGTH:
                a0, a1, a2 = marker_offset(d, measure.marker_a, rotation)
                n0 = b0 - origin[ka, 0] - a0
                n1 = b1 - origin[ka, 1] - a1
                n2 = b2 - origin[ka, 2] - a2
                f /= (n0 * n0 + n1 * n1 + n2 * n2) ** 0.5
            else:
                n0, n1, n2 = placed_direction(d, measure.axis, rotation)
            add_force(demand, b, f * n0, f * n1, f * n2, b0, b1, b2)
            add_force(demand, a, -f * n0, -f * n1, -f * n2, b0, b1, b2)  # on the same line
