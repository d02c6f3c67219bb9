"""The studio: a local page for people who would rather look than type."""
