"""Pictures of a mechanism and its motion, as pages for a browser."""

from mechid.view.page import render_page, write_page
from mechid.view.scene import scene
from mechid.view.tour import tour

__all__ = ["render_page", "scene", "tour", "write_page"]
