"""The exceptions that megakittens raises: a UserError can be mended by the caller, an InternalError is our defect."""

from megakittens._core import (
    CapacityError,
    Error,
    ExecutionError,
    FormatError,
    InternalError,
    OptionError,
    UnsupportedError,
    UserError,
)

__all__ = [
    "CapacityError",
    "Error",
    "ExecutionError",
    "FormatError",
    "InternalError",
    "OptionError",
    "UnsupportedError",
    "UserError",
]
