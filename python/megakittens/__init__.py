"""A PyTorch function as one persistent GPU kernel.

Importing this package loads neither PyTorch nor a GPU driver: what needs PyTorch is loaded at its first use.
"""

from megakittens import errors
from megakittens._core import Graph, version
from megakittens.errors import *  # noqa: F403

__version__ = version()
_LAZY = ("capture", "compile")
__all__ = ["Graph", "__version__", "capture", "compile", "errors", "load", "version", *errors.__all__]

load = Graph.load


def __getattr__(name):
    if name in _LAZY:
        from megakittens import interface

        return getattr(interface, name)
    raise AttributeError(f"module 'megakittens' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
