"""Integrators behind one task: SciPy's and those of SUNDIALS."""
