"""All formulations of forward dynamics by name."""

from __future__ import annotations

from mechid.dynamics.forward.augmented import Augmented
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.explicit_gibbs_appell import ExplicitGibbsAppell
from mechid.dynamics.forward.formulation import Baumgarte, Formulation
from mechid.dynamics.forward.gibbs_appell import GibbsAppell
from mechid.dynamics.forward.independent import Independent
from mechid.dynamics.forward.udwadia_kalaba import UdwadiaKalaba

_ON_TREE = {c.name: c for c in (GibbsAppell, ExplicitGibbsAppell, UdwadiaKalaba)}
ON_TREE = tuple(_ON_TREE)
FAST = ("independent", *ON_TREE)
EVERY = (*FAST, "augmented")  # the last one takes hundredths of a second per evaluation


def formulation(name: str, engine: Engine) -> Formulation:
    """Return a formulation without stabilisation."""
    if name == "independent":
        return Independent(engine)
    return (_ON_TREE | {"augmented": Augmented})[name](engine, Baumgarte())
