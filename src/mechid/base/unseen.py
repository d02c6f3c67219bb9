"""Parameters that a restricted experiment cannot see, whatever the numbers are.

Independent coordinates and tree speeds that stand in one equation belong together; two groups with
no equation in common move without each other. So it follows from the equations alone that

- a body whose groups are at rest (all their coordinates held, or the experiment static) shows no
  moments of inertia, and without gravity nothing at all; laws of speeds and accelerations between
  bodies at rest show nothing;
- a body, or an element, in none of whose groups a force is measured shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import sympy as sp
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mechid.base.experiment import Experiment, measured_rows
from mechid.base.transfers import Transfer
from mechid.dynamics.columns import element_terms
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.mechanism.element_laws import LOAD, LOADS, Measure, law_value, measure_parts
from mechid.mechanism.records import GROUND, Mechanism
from mechid.spatial.inertia import NAMES


def unseen(mechanism: Mechanism, experiment: Experiment) -> tuple[Transfer, ...]:
    """Return the parameters without effect in a restricted experiment, as unit vectors."""
    if experiment.whole:
        return ()
    groups = _Groups(kinematic_model(mechanism))
    names = [c.name for c in mechanism.coordinates]
    free = set() if experiment.static else set(names) - set(experiment.hold)
    moving = groups.of_coordinates([i for i, name in enumerate(names) if name in free])
    measured = groups.of_coordinates(measured_rows(experiment, mechanism))
    weight = any(experiment.gravity_of(mechanism))
    found = []

    def add(name: str, body: str, why: str) -> None:
        found.append(Transfer(f"{name} ({why})", body, GROUND, ((name, sp.Integer(1)),)))

    for i, body in enumerate(mechanism.bodies, start=1):
        here = groups.of_body(body.name)
        for k, name in enumerate(NAMES):
            if not here & measured:
                add(f"{name}_{i}", body.name, "no measured force moves the body")
            elif not here & moving and (k >= 4 or not weight):
                add(f"{name}_{i}", body.name, "the body is at rest")
    for term in element_terms(mechanism):
        if term.known:
            continue
        here = groups.of_measure(term.measure)
        at_rest = term.order > 0 and term.law != LOAD and not law_value(term.law, 0.0, *term.shape)
        if not here & measured:
            add(term.column.name, GROUND, "no measured force moves the element")
        elif at_rest and not here & moving:
            add(term.column.name, GROUND, "the element is at rest")
    return tuple(found)


class _Groups:
    """Which tree speeds and independent coordinates depend on each other, as numbers of groups."""

    def __init__(self, model: KinematicModel) -> None:
        t = model.tables
        n_v, n_i = t.columns.size, model.n_independent
        pairs = [(int(d.column), n_v + int(d.driver)) for d in t.direct]
        for row in t.rows:
            members = [int(t.path[k].column) for k in range(row.start, row.end)]
            members += [n_v + int(row.driver)] if row.driver >= 0 else []
            pairs += [(members[0], other) for other in members[1:]]
        a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        graph = coo_array((np.ones(len(a)), (a, b)), shape=(n_v + n_i, n_v + n_i))
        self._label = connected_components(graph, directed=False)[1]
        self._model, self._n_v = model, n_v

    def of_coordinates(self, numbers: Iterable[int]) -> set[int]:
        """Groups of independent coordinates."""
        return {int(self._label[self._n_v + i]) for i in numbers}

    def of_body(self, name: str) -> set[int]:
        """Groups that move a body."""
        return self._of_links(self._links(name))

    def of_measure(self, measure: Measure) -> set[int]:
        """Groups that move what a force element measures, or the bodies on which it stands."""
        links: set[int] = set()
        for part, _ in measure_parts(measure):
            if part[0] in LOADS:
                links |= self._links(str(getattr(part[1], "body", part[1])))
                links |= self._links(part[3])
            else:  # what moves both sides alike changes nothing
                if part[0] == "length":
                    a, b = part[1].body, part[2].body
                else:
                    joint = self._model.mechanism.joint(part[1])
                    a, b = joint.body_a, joint.body_b
                links |= self._links(a) ^ self._links(b)
        return self._of_links(links)

    def _links(self, body: str) -> set[int]:
        """Links of the tree between the ground and a body."""
        found: set[int] = set()
        link = self._model.compiled.body_link[body or GROUND][0]
        while link:
            found.add(link)
            link = int(self._model.tables.links[link].parent)
        return found

    def _of_links(self, links: set[int]) -> set[int]:
        columns = np.flatnonzero(np.isin(self._model.tables.columns.link, sorted(links)))
        return {int(self._label[c]) for c in columns}
