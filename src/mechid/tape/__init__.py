"""Straight-line code: operations recorded once per mechanism, emitted for several machines."""
