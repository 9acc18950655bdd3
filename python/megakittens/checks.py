"""What the user may have got wrong, said before anything is captured or run."""

import torch

from megakittens import _core, compat, fx
from megakittens.errors import OptionError, UnsupportedError, UserError

COMPILE_OPTIONS = {
    "enable": (True, False),
    "verbose": (False, True),
    "dry_run": (False, True),
    "numerics": ("eager", "fused"),
    "check": (False, True),
    "device": (None, "emulator", "reference", "cuda"),
    "reuse_outputs": (False, True),
    **dict.fromkeys(_core.pass_switches(), (True, False)),
}
MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def settings(**given):
    """All options with their defaults. Unknown names and values are errors that list the known ones."""
    result = {name: values[0] for name, values in COMPILE_OPTIONS.items()}
    for name, value in given.items():
        if name not in COMPILE_OPTIONS:
            raise OptionError(f"unknown option '{name}'; known options are {', '.join(sorted(COMPILE_OPTIONS))}")
        known = COMPILE_OPTIONS[name]
        if not any(value is one or (isinstance(one, str) and value == one) for one in known):
            raise OptionError(f"{name}={value!r} is not possible; known values are {', '.join(map(repr, known))}")
        result[name] = value
    return result


def scheduling(settings):
    """What _core.schedule takes of them."""
    return {"numerics": settings["numerics"], "passes": {name: settings[name] for name in _core.pass_switches()}}


def mode(value, options):
    if value is not None and options:
        raise OptionError("torch.compile takes mode= or options=, not both")
    if value not in MODES:
        raise OptionError(f"unknown mode {value!r}; known modes are {', '.join(repr(known) for known in MODES if known)}")


def inputs(labels, values):
    """Inputs of a graph: sizes are numbers, nothing asks for gradients, all are on one device."""
    devices = {}
    for label, value in zip(labels, values, strict=False):
        if not isinstance(value, torch.Tensor):
            continue
        for dim, size in enumerate(value.shape):
            if compat.is_symbolic(size):
                raise UnsupportedError(
                    f"size {dim} of '{label}' is symbolic ({size}): sizes are fixed so far, and each shape is scheduled "
                    f"on its own. Pass dynamic=False to torch.compile, or torch._dynamo.mark_static({label}, {dim})"
                )
        if value.layout is not torch.strided:
            raise UnsupportedError(f"'{label}' has layout {value.layout}; only strided tensors are supported")
        no_gradient(label, value, torch.is_grad_enabled())
        devices.setdefault(value.device, label)
    for label, value in zip(labels, values, strict=False):
        if compat.is_symbolic(value):
            raise UnsupportedError(
                f"the number '{label}' is symbolic ({value}): it may change from call to call, and sizes are fixed so "
                f"far. Pass dynamic=False to torch.compile, or hold '{label}' in a tensor"
            )
    one_device(devices)


def no_gradient(label, tensor, grad_mode):
    """Nothing is to be differentiated, backward or forward."""
    if tensor.requires_grad and grad_mode:
        raise UnsupportedError(
            f"'{label}' requires grad: training is not supported so far. Call inside torch.no_grad() or "
            f"torch.inference_mode(), or switch it off with requires_grad_(False)"
        )
    if compat.has_tangent(tensor):
        raise UnsupportedError(
            f"'{label}' has a tangent (forward-mode differentiation), which is not supported: pass "
            f"torch.autograd.forward_ad.unpack_dual({label}).primal, or call the function uncompiled"
        )


def one_device(devices):
    """`devices`: for each device a tensor that is there."""
    if len(devices) > 1:
        where = ", ".join(f"'{label}' on {device}" for device, label in devices.items())
        raise UnsupportedError(f"tensors on {len(devices)} devices: {where}. Move them to one device")


def results(nodes, device):
    """Every result is on the device of the inputs."""
    for node in nodes:
        value = compat.example_value(node)
        if isinstance(value, torch.Tensor) and value.device != device:
            source = compat.source_of(node)
            raise UnsupportedError(
                f"the result of {compat.target_name(node)}{' at ' + source if source else ''} is on '{value.device}', and the "
                f"function runs on '{device}': make it there (device=...), or outside the compiled function"
            )


def devices_of(values):
    """Of a call's arguments by name, and of modules among them: for each device the name of a tensor that is there."""
    devices = {}
    for name, value in values.items():
        named = compat.tensors_in(value, name)
        if isinstance(value, torch.nn.Module):
            named = [*value.named_parameters(), *value.named_buffers()]
        for label, tensor in named:
            devices.setdefault(tensor.device, label)
    return devices


def layouts(inputs_of_graph, tensors, device, grad_mode=False):
    """Every input has the type, the layout and the device it was captured with: guards do not look at parameters' strides,
    nor at what replaces their data. `grad_mode`: of the caller."""
    for item, tensor in zip(inputs_of_graph, tensors, strict=True):
        name, strides = item["name"], item["strides"]
        no_gradient(name, tensor, grad_mode)
        if tensor.device != device:
            raise UserError(
                f"'{name}' was on '{device}' when the function was captured, as every tensor of a call is, and is on "
                f"'{tensor.device}' now (its module was moved?): move it back, or compile again with all tensors there"
            )
        dtype = fx.dtype_name(tensor.dtype)
        same = dtype == item["dtype"] and list(tensor.shape) == item["sizes"]
        # The stride of a dimension of size 1 says nothing, and an empty tensor has no elements to misread.
        same = same and (
            not tensor.numel()
            or all(size == 1 or a == b for size, a, b in zip(tensor.shape, tensor.stride(), strides, strict=True))
        )
        if not same:
            raise UserError(
                f"'{name}' was {item['dtype']}{item['sizes']} with strides {strides} when the function was captured, and is "
                f"{dtype}{list(tensor.shape)} with strides {list(tensor.stride())} now (its .data was "
                f"replaced?): compile again, or give it its old layout"
            )
        if compat.has_no_memory(tensor):
            raise UnsupportedError(f"'{name}' has no memory of its own: it is a fake or meta tensor")
        needed, there = _end(tensor) - tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()
        if tensor.numel() and needed > there:
            raise UserError(
                f"'{name}' ({dtype}{list(tensor.shape)}) reaches {needed} bytes into its storage, which has {there}: it was "
                f"resized or freed. Give it memory again, or pass another tensor"
            )
        if tensor.is_neg() or tensor.is_conj():
            raise UnsupportedError(
                f"'{name}' is a view that negates or conjugates its memory lazily: pass it through .resolve_neg() or "
                f".resolve_conj()"
            )


def overlapping(inputs_of_graph, tensors):
    """An input that the graph writes must not share memory with another one."""
    mutated = [i for i, item in enumerate(inputs_of_graph) if item["mutated"]]
    for i in mutated:
        for k, other in enumerate(tensors):
            if k != i and share(tensors[i], other):
                raise UserError(
                    f"'{inputs_of_graph[i]['name']}' is written in place, and its range of memory overlaps that of "
                    f"'{inputs_of_graph[k]['name']}' (interleaved elements count): pass a clone of one"
                )


def aligned_copy(tensor):
    """The same sizes and strides in memory of its own."""
    span = (_end(tensor) - tensor.data_ptr()) // tensor.element_size() if tensor.numel() else 0
    whole = torch.empty(span, dtype=tensor.dtype, device=tensor.device)
    whole.copy_(tensor.detach().as_strided((span,), (1,)))
    return whole.as_strided(tensor.shape, tensor.stride())


def share(a, b):
    """Whether their ranges of memory overlap."""
    if a.numel() == 0 or b.numel() == 0 or a.device != b.device:
        return False
    return a.data_ptr() < _end(b) and b.data_ptr() < _end(a)


def _end(tensor):
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr() + (reach + 1) * tensor.element_size()
