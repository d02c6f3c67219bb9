"""Files of other tools, read as models."""
