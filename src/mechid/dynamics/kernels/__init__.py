"""Numba kernels of the dynamics, over the tables of the kinematics and of the dynamics."""
