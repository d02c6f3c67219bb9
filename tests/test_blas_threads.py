"""One thread of linear algebra inside mechid, as many as before outside."""

from __future__ import annotations

import inspect

import pytest
import scipy.linalg  # noqa: F401 - so that its BLAS is there
from threadpoolctl import threadpool_info, threadpool_limits

import mechid
from mechid.blas_threads import one_blas_thread
from mechid.errors import MechidError


def threads() -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_inside_and_outside() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {2}


def test_after_an_error() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        with pytest.raises(MechidError):
            mechid.excite("no_such_model")
        assert threads() == {2}


@pytest.mark.parametrize("name", ["excite", "identify", "reduce", "base_parameters", "advise"])
def test_decorated_functions_keep_their_signature(name: str) -> None:
    function = getattr(mechid, name)
    assert len(inspect.signature(function).parameters) > 3
    assert function.__wrapped__.__name__ == name
