"""What megakittens.compile returns: a callable through which Dynamo captures, and past which known calls go."""

import contextlib
import functools
import threading

from megakittens import _core, checks, compat, compat_calls, fast
from megakittens.backend import compile_graph
from megakittens.cuda import COMPILES
from megakittens.errors import Error, ExecutionError, UnsupportedError, UserError
from megakittens.signature import Signature

compat.keep_device_guard()
_tracing = threading.RLock()  # Dynamo's settings are those of the process: that shapes are fixed, and when not to compile


@_core.calls_forms
class Compiled(_core.FormCaller):
    """A compiled function or module. Attributes are those of the original; `graphs` lists what was captured."""

    def __init__(self, fn, settings, run=None):
        functools.update_wrapper(self, fn, updated=())
        self._mk_original = fn
        self._mk_settings = settings
        self._mk_run = run
        self.graphs = []
        self.executables = []
        self._mk_closed = False
        self._mk_begin()

    def _mk_begin(self):
        """Knows nothing yet of how the original is called."""
        fn = self._mk_original
        self._mk_shape = compat_calls.shape_of(fn)
        self._mk_function = function = compat_calls.frame_function(fn)
        self._mk_fast = fast.FastCalls(function, None if function is fn else fn) if function is not None else None
        self._forms = ()
        self._mk_looked = 0  # so many executables were known to `_mk_fast`
        backend = compat.weak_backend(self, "_mk_backend")
        self._mk_compiled = compat.optimize(backend, function or fn)
        self._mk_hooked = compat.optimize(backend, fn)  # a module whose hooks run around what is compiled

    def _mk_name(self):
        return getattr(self._mk_original, "__name__", type(self._mk_original).__name__)

    def _mk_backend(self, gm, example_inputs):
        return compile_graph(
            gm, example_inputs, self._mk_settings, self._mk_name(), self.graphs.append, self._mk_run, self.executables.append
        )

    def __call__(self, *args, **kwargs):
        """What Dynamo sees when it traces a call, in which no form has a say; other calls go to FormCaller."""
        return self._call(args, kwargs)

    def _prefer(self, form):
        # Which form comes first is no matter of right and wrong: nobody waits for it.
        if _tracing.acquire(blocking=False):
            try:
                if not self._mk_closed:
                    self._forms = form.of.prefer(form)
            finally:
                _tracing.release()

    def __reduce__(self):
        """A copy, deep or pickled, has captured nothing yet: programs belong to tensors, which it may not share."""
        return type(self), (self._mk_original, self._mk_settings, self._mk_run)

    def _call(self, args, kwargs):
        """Through Dynamo, which captures where this call is none that it knows. One thread at a time."""
        self._mk_expect_open()
        if compat_calls.is_compiling():
            return self._mk_original(*args, **kwargs)  # a part of what is being traced
        with _tracing:
            self._mk_expect_open()
            return self._mk_trace(args, kwargs)

    def _mk_expect_open(self):
        if self._mk_closed:
            raise UserError(f"'{self._mk_name()}' was closed: compile it again")

    def _mk_trace(self, args, kwargs):
        if not compat_calls.same_shape(self._mk_shape, compat_calls.shape_of(self._mk_original)):
            self.graphs.clear()
            self.executables.clear()
            self._mk_begin()
        compiled = self._mk_hooked if compat_calls.has_hooks(self._mk_original) else self._mk_compiled
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
                checks.one_device(checks.devices_of(Signature(self._mk_function).values(args, kwargs)) if self._mk_function else {})
                where = compat.mixed_devices(error)
                raise UnsupportedError(f"tensors on 2 devices: {where}. Move them to one device") from None
            except (compat.Unsupported, compat.BackendFailed) as error:
                # Where it arose inside PyTorch's compiler helps nobody.
                ours = translate(error).with_traceback(None)
                raise ours from (None if isinstance(ours, Error) else error)
        if self._mk_fast is not None and len(self.executables) != self._mk_looked:
            self._mk_looked = len(self.executables)
            self._forms = self._mk_fast.look(self.executables, args, kwargs)
        return result

    def synchronize(self):
        """Waits for the GPU, and raises ExecutionError where a launch gave up."""
        if self._mk_closed:
            return  # close() has waited
        _of_each(self.executables, lambda engine: engine.synchronize())

    def close(self):
        """Waits for the GPU and gives back the memory of every captured shape. A later call raises UserError; this one
        ExecutionError, where a launch gave up and nobody was told."""
        with _tracing:
            if self._mk_closed:
                return
            failed = None
            try:
                _of_each(self.executables, lambda engine: engine.close())
            except ExecutionError as error:
                failed = error
            self._mk_closed, self._mk_fast, self._forms = True, None, ()
            if failed is not None:
                raise failed

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
        return f"compiled({self._mk_original!r})"

    def __getattr__(self, name):
        # Of what is compiled, but for how that is copied.
        if name in ("_mk_original", "__copy__", "__deepcopy__"):
            raise AttributeError(name)
        return getattr(self._mk_original, name)


def _of_each(executables, action):
    """`action(engine)` for all of them, whatever one raises; then the first error."""
    errors = []
    for executable in executables:
        try:
            action(executable.engine)
        except Error as error:
            errors.append(error)
    if errors:
        raise errors[0]


def translate(error):
    """Our exception for one of Dynamo's."""
    inner = compat.inner_error(error)
    if isinstance(inner, Error):
        return inner
    if isinstance(inner, compat.Unsupported):
        reason, place = compat.describe_break(inner)
        raised = compat.raised_in_function(inner)
        if raised is not None:
            return UnsupportedError(
                f"the function raises {raised}{' at ' + place if place else ''}, when it is traced for this call: what it does "
                f"becomes one kernel, which raises nothing. Check arguments outside of it"
            )
        return UnsupportedError(
            f"the function is not one graph: {reason}{' at ' + place if place else ''}. The whole function becomes one "
            f"kernel, so this call must move out of it, or be replaced by tensor operations"
        )
    return inner
