"""Compiled modules and functions, which stand where the uncompiled ones stood: in models, classes and attributes."""

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


def _giving_the_module(name):
    """A method of nn.Module that returns the module it works on: here the compiled one."""

    def method(self, *args, **kwargs):
        result = getattr(self._original, name)(*args, **kwargs)
        return self if result is self._original else result

    method.__name__ = name
    return method


@_core.calls_forms
class CompiledModule(Compiled):
    """A compiled module: to everybody but who calls it, the module itself. Attributes are read and written there, and as a
    part of another module it has the parameters, modes and names in `state_dict` that it has uncompiled."""

    _OWN = frozenset(
        "_original _settings _run graphs executables _function _fast _forms _looked _closed _compiled _hooked".split()
    ) | frozenset(functools.WRAPPER_ASSIGNMENTS) | {"__wrapped__"}

    for _name_of in "train eval requires_grad_ to to_empty cpu cuda type half float double bfloat16 apply share_memory".split():
        locals()[_name_of] = _giving_the_module(_name_of)
    del _name_of

    @property
    def __class__(self):
        return type(self._original)  # isinstance(compiled, torch.nn.Module), which nn.Module asks of its parts

    def __setattr__(self, name, value):
        if name in self._OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self._original, name, value)

    def __delattr__(self, name):
        delattr(self._original, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *dir(self._original)})

    def __bool__(self):
        return bool(self._original)

    def __len__(self):
        return len(self._original)

    def __iter__(self):
        return iter(self._original)

    def __getitem__(self, key):
        return self._original[key]


def _is_of_a_class(function):
    """Whether it is written in a class, or takes a `self`."""
    *around, _ = function.__qualname__.split(".")
    first = function.__code__.co_varnames[: min(function.__code__.co_argcount, 1)]
    return (bool(around) and around[-1] != "<locals>") or first in (("self",), ("cls",))


@_core.calls_forms
class CompiledFunction(Compiled):
    """A compiled function."""

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
