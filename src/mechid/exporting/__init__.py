"""A mechanism, or what was identified of it, as files of other tools."""
