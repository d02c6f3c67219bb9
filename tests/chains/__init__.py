"""Random closed chains as model files with decimal numbers, taken through all commands."""
