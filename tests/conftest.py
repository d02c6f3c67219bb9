"""What every test shares: Hypothesis profiles and the way to a browser."""

from __future__ import annotations

import os
import shutil

# Small matrices in several test processes: more threads only wait for each other. NumPy reads this
# when it is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import pytest

hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile(
    "ci", deadline=None, derandomize=True, database=None, print_blob=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium; tests that ask for it are skipped where there is none."""
    named = os.environ.get("MECHID_CHROMIUM")
    for name in (named,) if named else ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium found; install one, or name it in MECHID_CHROMIUM")
