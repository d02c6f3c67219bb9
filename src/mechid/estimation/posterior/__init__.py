"""One posterior of the parameters and of everything that may be wrong with model and sensors."""
