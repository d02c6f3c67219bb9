"""Trajectory files."""
