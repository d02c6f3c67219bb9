"""Runs: everything an identification used and found, as a record and as a folder."""
