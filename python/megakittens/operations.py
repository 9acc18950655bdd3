"""Custom operations of PyTorch: what a user may write for one, its name, and its schema."""

import torch
from torch._ops import OpOverload, OpOverloadPacket

from megakittens.errors import UserError


def operation(given):
    """The overload that `given` stands for: what torch.library.custom_op returns, torch.ops.mylib.f, or "mylib::f"."""
    if hasattr(given, "_opoverload"):  # what custom_op returns
        return given._opoverload
    if isinstance(given, OpOverload):
        return given
    if isinstance(given, OpOverloadPacket):
        return given.default
    if isinstance(given, str) and "::" in given:
        library, name = given.split("::", 1)
        name, _, overload = name.partition(".")
        try:
            return getattr(getattr(getattr(torch.ops, library), name), overload or "default")
        except AttributeError:
            raise UserError(f"PyTorch knows no operation '{given}': define it with torch.library.custom_op first") from None
    raise UserError(f"operation={given!r} is none: pass a custom operation, or its name as in 'mylib::f'")


def operation_name(given):
    """As the compiled part takes it. A name need not be known to PyTorch yet."""
    return given if isinstance(given, str) else operation(given).name()


def _schema(given):
    return operation(given)._schema.arguments


def argument_names(given):
    return [argument.name for argument in _schema(given)]


def argument_defaults(given):
    """Of the arguments that are no tensors."""
    return {
        argument.name: argument.default_value
        for argument in _schema(given)
        if argument.has_default_value() and argument.default_value is not None
    }
