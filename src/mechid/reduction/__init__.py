"""Fewer parameters: which of them matter, and how many a motion with noise can tell."""
