"""Pictures of a mechanism and its motion, as pages for a browser."""
