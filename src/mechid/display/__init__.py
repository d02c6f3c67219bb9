"""Records as tables and as HTML for notebooks."""
