"""Base parameters: what of the dynamic parameters can be identified, in numbers and symbols."""
