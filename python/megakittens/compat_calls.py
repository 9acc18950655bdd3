"""Everything of PyTorch that is private or changes between its versions (written for torch 2.11), for calls past Dynamo's
frame hook (fast.py)."""

import types

import torch
import torch._dynamo
from torch._functorch._aot_autograd.schemas import OutputType

from megakittens.compat import placeholder_index

is_compiling = torch.compiler.is_dynamo_compiling  # quick; whatever else traces has tensors of its own kind, or a mode


def stance():
    """(object, attribute, value) without which calls go another way: torch.compiler.set_stance() is not used."""
    default = torch._dynamo.eval_frame._stance
    return torch._dynamo.eval_frame, "_stance", default if default.stance == "default" else object()


def no_tangents():
    """The same of forward-mode differentiation, of which guards see nothing."""
    return torch.autograd.forward_ad, "_current_level", -1


def undisturbed():
    """No torch-dispatch mode, no tracing. Whoever looks at a tensor as Dynamo's guards do need not ask."""
    return torch._C._len_torch_dispatch_stack() == 0 and not torch._C._is_tracing()


def frame_function(fn):
    """The function whose frame Dynamo compiles when `fn` is called: a function itself; for a module one of ours around it,
    whose code is its own. None for anything else."""
    if isinstance(fn, types.FunctionType):
        return fn
    if not isinstance(fn, torch.nn.Module):
        return None

    def call(*args, **kwargs):
        return fn(*args, **kwargs)

    return types.FunctionType(call.__code__.replace(), globals(), type(fn).__name__, None, call.__closure__)


GLOBAL_HOOKS = torch.nn.modules.module._global_forward_pre_hooks, torch.nn.modules.module._global_forward_hooks


def shape_of(module):
    """What runs around and in a module's own frame that no guard sees: hooks of all modules, and the class's forward with its
    code and defaults. None for what is no module."""
    if not isinstance(module, torch.nn.Module):
        return None
    forward = type(module).forward
    own = [getattr(forward, name, None) for name in ("__code__", "__defaults__", "__kwdefaults__")]
    return [forward, *own, *GLOBAL_HOOKS[0].values(), *GLOBAL_HOOKS[1].values()]


def same_shape(then, now):
    """Whether two answers of shape_of are the same objects."""
    return then is now or len(then) == len(now) and all(a is b for a, b in zip(then, now, strict=True))


def has_hooks(fn):
    """Whether a module has hooks that run around its own forward."""
    return isinstance(fn, torch.nn.Module) and bool(fn._forward_hooks or fn._forward_pre_hooks)


def cache_entries(code):
    """What Dynamo has compiled for a code object: `guard_manager` decides whether `code` is right for a call."""
    return torch._C._dynamo.eval_frame._debug_get_cache_entry_list(code)


def compiled_name(code):
    """The global by which code that Dynamo made calls its one graph; None where it calls none or several."""
    names = [name for name in code.co_names if name.startswith("__compiled_fn_")]
    return names[0] if len(names) == 1 else None


DYNAMO_UTILS = "__import_torch_dot__dynamo_dot_utils"


class QuietUtils:
    """What compiled code uses of torch._dynamo.utils, without the two functions by which it tells the profiler where it
    begins."""

    def __init__(self):
        self.record_pregraph_bytecode_enter = self.record_pregraph_bytecode_exit = bool

    def provide(self, names):
        """Plain attributes, because these cost a call nothing."""
        for name in names:
            if name not in self.__dict__ and hasattr(torch._dynamo.utils, name):
                setattr(self, name, getattr(torch._dynamo.utils, name))


def passes_through(gm, example_inputs):
    """Whether AOTAutograd's own work at each call is nothing: Dynamo's inputs are the aten graph's, in order, and its
    results the graph's."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None:
        return False
    placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
    return (
        len(placeholders) == len(example_inputs) == len(metadata.input_info)
        and all(placeholder_index(node, position) == position for position, node in enumerate(placeholders))
        and all(isinstance(value, torch.Tensor) for value in example_inputs)
        and not metadata.num_mutated_inp_runtime_indices
        and not metadata.num_intermediate_bases
        and not metadata.tokens
        and not metadata.num_graphsafe_rng_states
        and not metadata.is_train
        and all(info.output_type is OutputType.non_alias for info in metadata.output_info)
    )


def exchange_api():
    """PyTorch's table of C functions for exchanging tensors, in a capsule."""
    return torch.Tensor.__dlpack_c_exchange_api__


def exchange_device(device):
    """(type, number) of a device in that table's terms."""
    return {"cpu": 1, "cuda": 2}[device.type], device.index or 0


def exchange_dtype(dtype):
    """(code, bits) of a type in that table's terms."""
    bits = dtype.itemsize * 8
    if dtype is torch.bool:
        return 6, bits
    if dtype is torch.bfloat16:
        return 4, bits
    return (2 if dtype.is_floating_point else 0), bits


def quick_empty(device):
    """A function of sizes, strides and dtype that makes a tensor on the current GPU, in half of torch.empty's time."""
    return torch._C._dynamo.guards._empty_strided_cuda if device.type == "cuda" else None


def current_device():
    """A function that gives the number of the current GPU."""
    return torch._C._cuda_getDevice if torch.cuda.is_available() else int


def note_written(tensors):
    """Kernels of ours wrote these tensors, which PyTorch cannot know: whoever saved them for backward is told."""
    torch._C._increment_version(tensors)
