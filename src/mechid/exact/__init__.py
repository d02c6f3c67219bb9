"""Exact numbers, symbols and ball arithmetic for the geometry of a mechanism."""
