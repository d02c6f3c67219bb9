"""Studies: grids of experiments from a file, run on one machine or a cluster, as tidy tables."""
