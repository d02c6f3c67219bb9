"""Paths solved by code that is generated for one mechanism: many samples at once, in lanes."""
