"""Excitation: trajectories that are linear in their coefficients, and criteria that rank them."""
