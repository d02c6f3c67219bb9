"""Small parts of simulations: refusals that are counted, and values that are missing."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.simulate import _MOST_REFUSALS, _Refusals
from mechid.errors import MechidError, ModelError
from mechid.modelfile import load


def test_refusals_are_counted_anew_when_time_goes_on() -> None:
    """As many as allowed, twice, since more than the progress lies between; then one more."""
    refused = _Refusals(progress=0.5)
    for t in (1.0, 1.6):
        assert not any(refused.too_many(t) for _ in range(_MOST_REFUSALS))
    assert refused.too_many(2.1)  # just as far as the progress: not far enough
    assert not refused.too_many(2.2)
    assert refused.count == 1


@pytest.mark.parametrize("place", [0, 9])
def test_a_value_that_is_missing_is_named(place: int) -> None:
    model = dynamic_model(load("pendulum"))
    phi = parameter_values(model)
    assert np.isfinite(phi).all()
    phi = phi.copy()
    phi[place] = np.nan
    with pytest.raises(ModelError, match=f"no value for {model.columns[place].name} ") as caught:
        parameter_values(model, phi)
    assert caught.value.path == ("bodies",)
    with pytest.raises(MechidError, match=rf"phi must have shape \({len(phi)},\)"):
        parameter_values(model, phi[1:])


def test_few_of_many_missing_values_are_named() -> None:
    """Four, and dots if there are more."""
    model = dynamic_model(load("pendulum"))
    for count, dots in ((4, False), (5, True)):
        phi = parameter_values(model).copy()
        phi[:count] = np.nan
        with pytest.raises(ModelError) as caught:
            parameter_values(model, phi)
        names = [c.name for c in model.columns[:4]]
        assert ", ".join(names) in str(caught.value)
        assert ("…" in caught.value.what) == dots
