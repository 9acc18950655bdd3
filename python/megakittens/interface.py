"""megakittens.compile and megakittens.capture."""

import contextlib
import functools

import torch

from megakittens import _core, checks, compat
from megakittens.compiled import Compiled
from megakittens.compiled_kinds import compiled_as
from megakittens.errors import UserError


def compile(fn=None, **options):
    """`fn`, a function or module, as one persistent kernel; runs where the inputs are.

    Also a decorator. Options: enable=False returns `fn` uncompiled; verbose=True prints each captured graph; dry_run=True
    stops after capture and returns what PyTorch computes; the passes' switches
    (fusion=False keeps one node an operation; docs/guides/python.md lists them); numerics="eager"
    rounds after each operation as PyTorch does, "fused" keeps fp32 inside a chain; check=True proves on the emulator that
    every access is ordered (slower); device="emulator" or "reference" runs somewhere else than on the inputs' device;
    reuse_outputs=True puts the results of every call into the same memory.
    """
    settings = checks.settings(**options)
    if fn is None:
        return functools.partial(compile, **options)
    if not callable(fn):
        raise UserError(f"megakittens.compile takes a function or a module, not {type(fn).__name__}")
    fn = fn._mk_original if isinstance(fn, Compiled) else fn  # anew, and in the same place
    return compiled_as(fn, settings) if settings["enable"] else fn


def capture(fn, *example_inputs, **kwargs):
    """The graph of `fn(*example_inputs, **kwargs)`, without compiling it: print it, or `.save("fn.mkg.json")` it.

    The function is captured for inference, whatever requires grad.
    """
    if not callable(fn):
        raise UserError(f"megakittens.capture takes a function or a module, not {type(fn).__name__}")
    # A function of its own, so that what Dynamo keeps for the original does not hide the capture.
    separate = compat.separate(fn._mk_original if isinstance(fn, Compiled) else fn)
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
