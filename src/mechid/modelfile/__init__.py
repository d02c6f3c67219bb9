"""Model files: mechanisms described in YAML or in Python, checked, expanded and resolved."""

from mechid.modelfile.api import build, dumps, load, loads, save
from mechid.modelfile.document import Document, json_schema
from mechid.modelfile.zoo import ZooEntry, zoo, zoo_entry, zoo_names, zoo_path

__all__ = [
    "Document",
    "ZooEntry",
    "build",
    "dumps",
    "json_schema",
    "load",
    "loads",
    "save",
    "zoo",
    "zoo_entry",
    "zoo_names",
    "zoo_path",
]
