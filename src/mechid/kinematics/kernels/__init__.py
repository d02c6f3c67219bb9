"""Numba kernels: small functions over `Tables`, compiled once for all mechanisms.

They are generic in the number type: float64 for values, complex128 for exact sensitivities by
complex steps. With NUMBA_DISABLE_JIT=1 the same code runs as plain Python.
"""
