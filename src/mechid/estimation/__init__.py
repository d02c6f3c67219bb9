"""Estimation of base parameters from motions and forces: one estimator per file, one result."""
