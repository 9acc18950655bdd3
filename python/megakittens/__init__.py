"""A PyTorch function as one persistent GPU kernel.

Importing this package loads neither PyTorch nor a GPU driver.
"""

from megakittens import errors
from megakittens._core import version
from megakittens.errors import *  # noqa: F403

__version__ = version()
__all__ = ["__version__", "version", *errors.__all__]
