"""A PyTorch function as one persistent GPU kernel.

Importing this package loads neither PyTorch nor a GPU driver: what needs PyTorch is loaded at its first use.
"""

import importlib

from megakittens import errors
from megakittens._core import Graph, version
from megakittens.errors import *  # noqa: F403

__version__ = version()
_LAZY = {
    "capture": "interface",
    "compile": "interface",
    **dict.fromkeys(("Call", "InstructionType", "Operand", "Plan", "check_type", "register", "unregister"), "instruction_type"),
}
__all__ = ["Graph", "__version__", "errors", "load", "version", *_LAZY, *errors.__all__]

load = Graph.load


def __getattr__(name):
    if name in _LAZY:
        return getattr(importlib.import_module(f"megakittens.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'megakittens' has no attribute '{name}'")


def __dir__():
    return sorted(__all__)
