"""Dynamics: observation matrix, inverse dynamics, forward dynamics."""
