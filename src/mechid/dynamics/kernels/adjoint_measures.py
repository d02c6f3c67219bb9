"""Wrenches of force elements: functions of measures times ∂s/∂y."""

from mechid.dynamics.kernels.adjoint_rates import (
    adjoint_axis_motion,
    adjoint_axis_speeds,
    adjoint_dot_motion,
    adjoint_dot_speeds,
    adjoint_line_motion,
    adjoint_line_speeds,
)
from mechid.dynamics.kernels.measures import (
    element_factor,
    law_slope,
    marker_offset,
    placed_direction,
)
from mechid.dynamics.kernels.screws import minus, plus, vector
from mechid.dynamics.tables import COORDINATE, DOT, LENGTH, PUSH, SPIN, SUM, TURN, TURNS
from mechid.kinematics.kernels.jit import inlined_kernel, kernel


@inlined_kernel
def _weigh(element, n, values, measures, partial, y, weight):
    """Add what weight × the element's force on coordinate y asks of its measure."""
    e, m = element, element.measure
    measures[m, y] += weight * element_factor(e, values)
    slope = law_slope(e.law, values[m, e.order], e.a, e.b, e.c, e.d)
    place = n + 2 if e.order == 0 else n + e.order - 1
    measures[m, place] += weight * slope * partial[m, y]


@kernel
def weigh_measures(d, n, values, partial, G, g, measures):
    """Fill measures (n_measures, n + 3): derivatives of Σ G W + Σ g known by ∂s/∂y, ṡ, s̈ and s."""
    for m in range(d.measures.size):
        for i in range(n + 3):
            measures[m, i] = 0.0
    first = 10 * d.body_link.size
    for y in range(n):
        for e in range(d.columns.size):
            _weigh(d.columns[e], n, values, measures, partial, y, G[y, first + e])
        if g[y] != 0.0:
            for e in range(d.known.size):
                _weigh(d.known[e], n, values, measures, partial, y, g[y] * d.known[e].known)


@kernel
def adjoint_measures(d, n, rotation, vectors, partial, pull, by_y):
    """Enter all measures by their weights; add to by_y (n,) what acts through s itself."""
    weights = pull.measures
    for i in range(n + 2):
        for c in range(pull.elements.shape[1]):
            pull.elements[i, c] = 0.0
    for m in range(d.measures.size - 1, -1, -1):  # a sum before its terms
        measure = d.measures[m]
        used = False
        for i in range(n + 3):
            used = used or weights[m, i] != 0.0
        if not used:
            continue
        for y in range(n):
            by_y[y] += weights[m, n + 2] * partial[m, y]
        if measure.kind == SUM or measure.kind == TURNS:
            for i in range(measure.start, measure.end):
                for j in range(n + 2):
                    weights[d.terms[i].measure, j] += d.terms[i].factor * weights[m, j]
        elif measure.kind == COORDINATE:
            for j in range(n + 2):
                pull.elements[j, measure.v] += weights[m, j]
        elif measure.kind == TURN:
            _pull_turn(d, m, n, rotation, pull)
        elif measure.kind == DOT:
            _pull_dot(d, m, n, rotation, pull)
        elif measure.kind == PUSH or measure.kind == SPIN:
            _pull_load(d, m, n, rotation, vectors, pull)
        else:
            _pull_line(d, m, n, rotation, vectors, pull)


@kernel
def _pull_load(d, m, n, rotation, vectors, pull):
    measure = d.measures[m]
    k, of_f = measure.link_b, d.direction_link[measure.axis]
    f = placed_direction(d, measure.axis, rotation)
    offset = marker_offset(d, measure.marker_b, rotation)
    at = minus(plus(vector(vectors[0], k), offset), vector(pull.pole, 0))
    turn, push = (1.0, 0.0) if measure.kind == SPIN else (0.0, 1.0)
    adjoint_axis_speeds(pull, n, pull.measures, m, 0, k, of_f, k, turn, push, f, at)


@kernel
def _pull_dot(d, m, n, rotation, pull):
    measure, weights = d.measures[m], pull.measures
    a, b = measure.link_a, measure.link_b
    x = placed_direction(d, measure.x_a, rotation)
    z = placed_direction(d, measure.x_b, rotation)
    adjoint_dot_speeds(pull, n, weights, m, a, b, x, z)
    adjoint_dot_motion(pull, n, weights[m, n], weights[m, n + 1], a, b, x, z)


@kernel
def _pull_turn(d, m, n, rotation, pull):
    measure, weights = d.measures[m], pull.measures
    a, b, of_d = measure.link_a, measure.link_b, d.direction_link[measure.axis]
    axis, none = placed_direction(d, measure.axis, rotation), (0.0, 0.0, 0.0)
    nu, mu = weights[m, n], weights[m, n + 1]
    adjoint_axis_speeds(pull, n, weights, m, a, b, of_d, b, 1.0, 0.0, axis, none)
    adjoint_axis_motion(pull, n, nu, mu, a, b, of_d, b, 1.0, 0.0, axis, none)


@kernel
def _pull_line(d, m, n, rotation, vectors, pull):
    measure, weights = d.measures[m], pull.measures
    a, b = d.marker_link[measure.marker_a], d.marker_link[measure.marker_b]
    pole = vector(pull.pole, 0)
    offset = marker_offset(d, measure.marker_b, rotation)
    mb = minus(plus(vector(vectors[0], b), offset), pole)
    nu, mu = weights[m, n], weights[m, n + 1]
    if measure.kind == LENGTH:
        offset = marker_offset(d, measure.marker_a, rotation)
        ma = minus(plus(vector(vectors[0], a), offset), pole)
        adjoint_line_speeds(pull, n, weights, m, a, b, ma, mb)
        adjoint_line_motion(pull, n, nu, mu, a, b, ma, mb)
    else:
        # the axis rides on a: the slide of b's point along it, wherever a's point stands
        axis = placed_direction(d, measure.axis, rotation)
        of_d = d.direction_link[measure.axis]
        adjoint_axis_speeds(pull, n, weights, m, a, b, of_d, b, 0.0, 1.0, axis, mb)
        adjoint_axis_motion(pull, n, nu, mu, a, b, of_d, b, 0.0, 1.0, axis, mb)
