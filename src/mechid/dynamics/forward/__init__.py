"""Forward dynamics: one formulation per file, all with the interface of `formulation`."""
