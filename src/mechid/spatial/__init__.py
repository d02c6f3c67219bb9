"""Rotations and inertias: the small algebra that everything else stands on."""
