"""Text files that people write: YAML with places, names, numbers and expressions, messages."""
