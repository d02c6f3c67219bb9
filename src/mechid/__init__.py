"""mechid: models of mechanisms with closed loops, and the identification of their parameters.

The method is a chain of functions, each of which takes what the one before returns, or a file:
`load`, `base_parameters`, `excite`, `synthesise` or `read_measurement`, `identify`, `reduce`,
`validate`, `predict`, `write_report`.

What is exported stands in `__init__.pyi`. Names are loaded when they are first used, so that
importing the package costs nothing.
"""

from typing import Any

import lazy_loader

_load, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("mechid")
    if name not in __all__:
        raise AttributeError(f"module 'mechid' has no attribute {name!r}")
    return _load(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
