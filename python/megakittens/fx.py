"""FX graphs as JSON, in the form that src/frontend/fx/json.cpp describes."""

import json
import math

import torch
import torch.fx

from megakittens import compat
from megakittens.errors import UnsupportedError

DTYPES = {
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.float32: "f32",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.bool: "bool",
}


def dtype_name(dtype):
    """Our name where the type is one of ours, else PyTorch's."""
    return DTYPES.get(dtype, str(dtype).removeprefix("torch."))


def argument(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, torch.fx.Node):
        return {"node": value.name}
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else {"other": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, (list, tuple)):
        return [argument(item) for item in value]
    if isinstance(value, dict):
        return {"dict": {str(key): argument(item) for key, item in value.items()}}
    return {"other": str(value)}


def tensor(value):
    if not isinstance(value, torch.Tensor):
        return None
    return {
        "dtype": dtype_name(value.dtype),
        "shape": [int(size) for size in value.shape],
        "strides": [int(stride) for stride in value.stride()] if value.layout is torch.strided else [0] * value.dim(),
        "device": str(value.device),
        "offset": int(value.storage_offset()) if value.layout is torch.strided else 0,
    }


def meta(value):
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return [tensor(item) for item in value]
    return tensor(value)


def refuse_unknown_sizes(node, value):
    """Sizes that are symbolic here come from data: of inputs, symbolic ones have been refused before."""
    for item in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(item, torch.Tensor) and any(compat.is_symbolic(size) for size in item.shape):
            source = compat.source_of(node)
            raise UnsupportedError(
                f"{compat.target_name(node)}{' at ' + source if source else ''}: how large its result is depends on the data "
                f"(size {[str(size) for size in item.shape]}), and a program has fixed sizes: this call must move out of the function"
            )


def serialise(gm, name="graph", labels=(), static=frozenset(), aliases=()):
    """The text for an FX graph. `labels` are the placeholders' names as the user knows them, `static` the placeholders
    that are parameters or buffers, `aliases` the results that the caller takes from his own tensors."""
    nodes = []
    position = 0
    for node in gm.graph.nodes:
        item = {"op": node.op, "name": node.name, "target": compat.target_name(node)}
        if node.op == "call_module":
            item["target"] = compat.module_class(gm, node)
        if node.args:
            item["args"] = [argument(value) for value in node.args]
        if node.kwargs:
            item["kwargs"] = {key: argument(value) for key, value in node.kwargs.items()}
        value = compat.example_value(node)
        refuse_unknown_sizes(node, value)
        if node.op == "get_attr" and value is None:
            value = attribute(gm, node.target)
        if node.op != "output":
            item["meta"] = meta(value)
        elif aliases:
            item["aliases"] = list(aliases)
        if node.op == "get_attr":
            number = single_number(attribute(gm, node.target))
            if number is not None:
                item["number"] = number
        source = compat.source_of(node)
        if source:
            item["source"] = source
        if node.op == "placeholder":
            index = compat.placeholder_index(node, position)
            if index < len(labels):
                item["label"] = labels[index]
            if position in static:
                item["static"] = True
            position += 1
        nodes.append(item)
    lines = ",\n  ".join(json.dumps(node) for node in nodes)
    return f'{{"megakittens_fx": 1, "name": {json.dumps(name)},\n "nodes": [\n  {lines}]}}\n'


def attribute(gm, target):
    """The tensor that a get_attr node names."""
    value = gm
    for part in target.split("."):
        value = getattr(value, part)
    return value


def single_number(value):
    """The number that a constant without dimensions holds, if fp32 can hold it too."""
    if not isinstance(value, torch.Tensor) or value.dim() != 0 or value.is_complex():
        return None
    number = float(value)
    return number if math.isfinite(number) and (value.is_floating_point() or abs(number) <= 1 << 24) else None
