"""The command-line tool `mechid`: one file per command."""

from mechid.cli.app import app, main

__all__ = ["app", "main"]
