"""Compiled modules and functions, which stand where the uncompiled ones stood: in models, classes and attributes."""

import copy
import functools
import inspect
import sys

import torch

from megakittens import _core
from megakittens.compiled import Compiled


def compiled_as(fn, settings):
    """The compiled object that stands for `fn`."""
    if isinstance(fn, torch.nn.Module):
        return CompiledModule(fn, settings)
    if inspect.isfunction(fn):
        return (CompiledMethod if _is_of_a_class(fn) else CompiledFunction)(fn, settings)
    return Compiled(fn, settings)


# Methods of nn.Module that return the module: here they return the compiled one.
_GIVING_THE_MODULE = frozenset(
    "train eval requires_grad_ to to_empty cpu cuda xpu type half float double bfloat16 apply share_memory".split()
)


@_core.calls_forms
class CompiledModule(Compiled):
    """A compiled module: to everybody but who calls it, the module itself. Attributes are read and written there, and as a
    part of another module it has the parameters, modes and names in `state_dict` that it has uncompiled. What begins with
    `_mk_`, and the methods of Compiled, are ours."""

    _mk_own = frozenset(["graphs", "executables", "_forms", "__wrapped__", *functools.WRAPPER_ASSIGNMENTS])

    @property
    def __class__(self):
        return self._mk_original.__class__  # isinstance(compiled, torch.nn.Module), which nn.Module asks of its parts

    def __getattr__(self, name):
        value = Compiled.__getattr__(self, name)
        if name not in _GIVING_THE_MODULE or not inspect.ismethod(value) or value.__self__ is not self._mk_original:
            return value

        def method(*args, **kwargs):
            result = value(*args, **kwargs)
            return self if result is self._mk_original else result

        return functools.wraps(value)(method)

    def __setattr__(self, name, value):
        if name.startswith("_mk_") or name in self._mk_own:
            object.__setattr__(self, name, value)
        else:
            setattr(self._mk_original, name, value)

    def __delattr__(self, name):
        delattr(self._mk_original, name)

    def __copy__(self):
        return type(self)(copy.copy(self._mk_original), self._mk_settings, self._mk_run)

    def __dir__(self):
        return sorted({*object.__dir__(self), *dir(self._mk_original)})

    def __bool__(self):
        return bool(self._mk_original)

    def __len__(self):
        return len(self._mk_original)

    def __iter__(self):
        return iter(self._mk_original)

    def __getitem__(self, key):
        return self._mk_original[key]

    def __setitem__(self, key, value):
        self._mk_original[key] = value

    def __delitem__(self, key):
        del self._mk_original[key]


def _is_of_a_class(function):
    """Whether it is written in a class, or takes a `self`."""
    *around, _ = function.__qualname__.split(".")
    first = function.__code__.co_varnames[: min(function.__code__.co_argcount, 1)]
    return (bool(around) and around[-1] != "<locals>") or first in (("self",), ("cls",))


@_core.calls_forms
class CompiledFunction(Compiled):
    """A compiled function."""

    def __set_name__(self, owner, name):
        self.__class__ = CompiledMethod  # it stands in the body of a class

    def __reduce__(self):
        """By its name where that names it, as functions are."""
        found = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else Compiled.__reduce__(self)


@_core.calls_forms
class CompiledMethod(CompiledFunction):
    """A compiled function that becomes a method where it stands in a class. Others do not: in the attributes of an object
    that is itself compiled Dynamo knows no objects that could."""

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)
