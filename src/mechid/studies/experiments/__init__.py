"""What one cell of a study computes: a file per experiment."""
