"""megakittens.compile and megakittens.capture."""

import contextlib
import functools
import inspect
import sys
import threading

import torch

from megakittens import _core, checks, compat, compat_calls, fast
from megakittens.backend import compile_graph
from megakittens.cuda import COMPILES
from megakittens.errors import Error, UnsupportedError, UserError
from megakittens.signature import Signature

compat.keep_device_guard()
_tracing = threading.RLock()  # Dynamo's settings are those of the process: that shapes are fixed, and when not to compile


def compile(fn=None, **options):
    """`fn`, a function or module, as one persistent kernel; runs where the inputs are.

    Also a decorator. Options: enable=False returns `fn` as it is; verbose=True prints each captured graph; dry_run=True
    stops after capture and returns what PyTorch computes; fusion=False keeps one node an operation; numerics="eager"
    rounds after each operation as PyTorch does, "fused" keeps fp32 inside a chain; check=True proves on the emulator that
    every access is ordered (slower); device="emulator" or "reference"
    runs somewhere else than on the inputs' device; reuse_outputs=True gives the same result tensors in every call.
    """
    settings = checks.settings(**options)
    if fn is None:
        return functools.partial(compile, **options)
    if not callable(fn):
        raise UserError(f"megakittens.compile takes a function or a module, not {type(fn).__name__}")
    if not settings["enable"]:
        return fn
    if isinstance(fn, torch.nn.Module):
        return CompiledModule(fn, settings)
    if inspect.isfunction(fn):
        return (CompiledMethod if _is_of_a_class(fn) else CompiledFunction)(fn, settings)
    return Compiled(fn, settings)


@_core.calls_forms
class Compiled(_core.FormCaller):
    """A compiled function or module. Attributes are those of the original; `graphs` lists what was captured."""

    def __init__(self, fn, settings, run=None):
        functools.update_wrapper(self, fn, updated=())
        self._original = fn
        self._settings = settings
        self._run = run
        self.graphs = []
        self.executables = []
        self._function = function = compat_calls.frame_function(fn)
        self._fast = fast.FastCalls(function, None if function is fn else fn) if function is not None else None
        self._forms = ()
        self._looked = 0  # so many executables were known to `_fast`
        self._closed = False
        backend = compat.weak_backend(self, "_backend")
        self._compiled = compat.optimize(backend, function or fn)
        self._hooked = compat.optimize(backend, fn)  # a module whose hooks run around what is compiled

    def _name(self):
        return getattr(self._original, "__name__", type(self._original).__name__)

    def _backend(self, gm, example_inputs):
        return compile_graph(
            gm, example_inputs, self._settings, self._name(), self.graphs.append, self._run, self.executables.append
        )

    def __call__(self, *args, **kwargs):
        """What Dynamo sees when it traces a call, in which no form has a say; other calls go to FormCaller."""
        return self._call(args, kwargs)

    def _prefer(self, form):
        self._forms = form.of.prefer(form)

    def __reduce__(self):
        """A copy, deep or pickled, has captured nothing yet: programs belong to tensors, which it may not share."""
        return type(self), (self._original, self._settings, self._run)

    def _call(self, args, kwargs):
        """Through Dynamo, which captures where this call is none that it knows. One thread at a time."""
        if self._closed:
            raise UserError(f"'{self._name()}' was closed: compile it again")
        if compat_calls.is_compiling():
            return self._original(*args, **kwargs)  # a part of what is being traced
        with _tracing:
            return self._trace(args, kwargs)

    def _trace(self, args, kwargs):
        compiled = self._hooked if compat_calls.has_hooks(self._original) else self._compiled
        while True:
            try:
                with compat.known_calls_only() if compat.capturing() else contextlib.nullcontext():
                    result = compiled(*args, **kwargs)
                break
            except compat.NotKnown:
                raise UserError(COMPILES) from None
            except compat.RecompileLimit:
                compat.raise_recompile_limit()
            except compat.FailedTrace as error:
                if compat.mixed_devices(error) is None:
                    raise
                checks.one_device(checks.devices_of(Signature(self._function).values(args, kwargs)) if self._function else {})
                where = compat.mixed_devices(error)
                raise UnsupportedError(f"tensors on 2 devices: {where}. Move them to one device") from None
            except (compat.Unsupported, compat.BackendFailed) as error:
                # Where it arose inside PyTorch's compiler helps nobody.
                ours = translate(error).with_traceback(None)
                raise ours from (None if isinstance(ours, Error) else error)
        if self._fast is not None and len(self.executables) != self._looked:
            self._looked = len(self.executables)
            self._forms = self._fast.look(self.executables, args, kwargs)
        return result

    def synchronize(self):
        """Waits for the GPU, and raises ExecutionError where a launch gave up."""
        if self._closed:
            return  # close() has waited
        for executable in self.executables:
            executable.engine.synchronize()

    def close(self):
        """Waits for the GPU and gives back the memory of every captured shape. A later call raises UserError."""
        self._closed, self._fast, self._forms = True, None, ()
        for executable in self.executables:
            executable.engine.close()

    @property
    def workspace_bytes(self):
        """Device memory of the programs themselves and of tensors between their nodes, over all captured shapes."""
        return sum(executable.engine.workspace_bytes for executable in self.executables)

    def explain(self):
        """What was captured and scheduled, as text."""
        return "\n".join(f"{executable.graph}\n{executable.engine.explain()}" for executable in self.executables)

    def save(self, path):
        """Writes the program of the one captured shape; the command line shows and runs it."""
        if len(self.executables) != 1:
            raise UserError(f"{len(self.executables)} shapes were captured; .save() writes the program of one")
        self.executables[0].engine.save(path)

    def __repr__(self):
        return f"compiled({self._original!r})"

    def __getattr__(self, name):
        # Of what is compiled, but for how that is copied.
        if name in ("_original", "__copy__", "__deepcopy__"):
            raise AttributeError(name)
        return getattr(self._original, name)


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


@_core.calls_forms
class CompiledFunction(Compiled):
    """A compiled function."""

    def __reduce__(self):
        """By its name where that names it, as functions are."""
        found = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else Compiled.__reduce__(self)


def _is_of_a_class(function):
    """Whether it is written in a class, or takes a `self`."""
    *around, _ = function.__qualname__.split(".")
    first = function.__code__.co_varnames[: min(function.__code__.co_argcount, 1)]
    return (bool(around) and around[-1] != "<locals>") or first in (("self",), ("cls",))


@_core.calls_forms
class CompiledMethod(CompiledFunction):
    """A compiled function that becomes a method where it stands in a class. Others do not: in the attributes of an object
    that is itself compiled Dynamo knows no objects that could."""

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def translate(error):
    """Our exception for one of Dynamo's."""
    inner = compat.inner_error(error)
    if isinstance(inner, Error):
        return inner
    if isinstance(inner, compat.Unsupported):
        reason, place = compat.describe_break(inner)
        return UnsupportedError(
            f"the function is not one graph: {reason}{' at ' + place if place else ''}. The whole function becomes one "
            f"kernel, so this call must move out of it, or be replaced by tensor operations"
        )
    return inner


def capture(fn, *example_inputs, **kwargs):
    """The graph of `fn(*example_inputs, **kwargs)`, without compiling it: print it, or `.save("fn.mkg.json")` it.

    The function is captured for inference, whatever requires grad.
    """
    if not callable(fn):
        raise UserError(f"megakittens.capture takes a function or a module, not {type(fn).__name__}")
    # A function of its own, so that what Dynamo keeps for the original does not hide the capture.
    separate = compat.separate(fn._original if isinstance(fn, Compiled) else fn)
    compiled = Compiled(separate, checks.settings(), run=_stop)
    with torch.no_grad(), compat.unlimited_recompiles(), contextlib.suppress(_Captured):
        compiled(*example_inputs, **kwargs)
    if len(compiled.graphs) != 1:
        raise UserError(f"the function has {len(compiled.graphs)} graphs: it computes nothing from tensors")
    return compiled.graphs[0]


class _Captured(Exception):
    """Leaves the function as soon as its graph is known: nothing is computed, nothing is written."""


def _stop(_inputs):
    raise _Captured


Graph = _core.Graph
