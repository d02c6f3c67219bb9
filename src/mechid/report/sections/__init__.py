"""The sections of the page: a file each, with a template of the same name."""
