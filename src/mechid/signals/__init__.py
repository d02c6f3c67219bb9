"""Measured signals: derivatives, noise, filters, projection on the closure."""
