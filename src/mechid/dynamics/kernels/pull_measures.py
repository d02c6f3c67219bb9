"""Wrenches of the element columns: each is a function of a measure, times ∂s/∂y."""

from mechid.dynamics.kernels.measures import element_factor, marker_offset, placed_direction
from mechid.dynamics.kernels.pull_rates import (
    pull_axis_motion,
    pull_axis_speeds,
    pull_line_motion,
    pull_line_speeds,
)
from mechid.dynamics.kernels.screws import minus, plus, vector
from mechid.dynamics.tables import (
    COORDINATE,
    DAMPING,
    INERTIA,
    LENGTH,
    STIFFNESS,
    SUM,
    TURN,
)
from mechid.kinematics.kernels.jit import kernel


@kernel
def weigh_measures(d, n, values, partial, G, measures):
    """Fill measures (n_measures, n + 3): derivatives of Σ G W by ∂s/∂y, ṡ, s̈ and s."""
    for m in range(d.measures.size):
        for i in range(n + 3):
            measures[m, i] = 0.0
    first = 10 * d.body_link.size
    for e in range(d.columns.size):
        element = d.columns[e]
        m = element.measure
        f = element_factor(element.takes, element.offset, values, m)
        by_f = 0.0
        for y in range(n):
            by_f += G[y, first + e] * partial[m, y]
            measures[m, y] += G[y, first + e] * f
        if element.takes == DAMPING:
            measures[m, n] += by_f
        elif element.takes == INERTIA:
            measures[m, n + 1] += by_f
        elif element.takes == STIFFNESS:
            measures[m, n + 2] += by_f


@kernel
def pull_measures(d, n, rotation, vectors, partial, pull, by_y):
    """Enter all measures by their weights; add to by_y (n,) what acts through s itself."""
    weights = pull.measures
    for i in range(n + 2):
        for c in range(pull.elements.shape[1]):
            pull.elements[i, c] = 0.0
    for m in range(d.measures.size - 1, -1, -1):  # a sum before its terms
        measure = d.measures[m]
        for y in range(n):
            by_y[y] += weights[m, n + 2] * partial[m, y]
        if measure.kind == SUM:
            for i in range(measure.start, measure.end):
                for j in range(n + 2):
                    weights[d.terms[i].measure, j] += d.terms[i].factor * weights[m, j]
        elif measure.kind == COORDINATE:
            for j in range(n + 2):
                pull.elements[j, measure.v] += weights[m, j]
        elif measure.kind == TURN:
            _pull_turn(d, m, n, rotation, pull)
        else:
            _pull_line(d, m, n, rotation, vectors, pull)


@kernel
def _pull_turn(d, m, n, rotation, pull):
    measure, weights = d.measures[m], pull.measures
    a, b, of_d = measure.link_a, measure.link_b, d.direction_link[measure.axis]
    axis, none = placed_direction(d, measure.axis, rotation), (0.0, 0.0, 0.0)
    nu, mu = weights[m, n], weights[m, n + 1]
    pull_axis_speeds(pull, n, weights, m, a, b, of_d, b, 1.0, 0.0, axis, none)
    pull_axis_motion(pull, n, nu, mu, a, b, of_d, b, 1.0, 0.0, axis, none)


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
        pull_line_speeds(pull, n, weights, m, a, b, ma, mb)
        pull_line_motion(pull, n, nu, mu, a, b, ma, mb)
    else:
        # the axis rides on a: the slide of b's point along it, wherever a's point stands
        axis = placed_direction(d, measure.axis, rotation)
        of_d = d.direction_link[measure.axis]
        pull_axis_speeds(pull, n, weights, m, a, b, of_d, b, 0.0, 1.0, axis, mb)
        pull_axis_motion(pull, n, nu, mu, a, b, of_d, b, 0.0, 1.0, axis, mb)
