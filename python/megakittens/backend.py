"""The backend that torch.compile finds by its entry point."""

import json
import logging
import weakref

import torch

from megakittens import _core, attention, checks, compat, compat_calls, dispatch, fx
from megakittens.errors import UnsupportedError

logger = logging.getLogger("megakittens")


def backend(gm, example_inputs, *, mode=None, options=None, **kwargs):
    """`torch.compile(fn, backend="megakittens", mode=..., options={...})`. Any mode of PyTorch's is accepted."""
    checks.mode(mode, options)
    settings = checks.settings(**{**(options or {}), **kwargs})
    if not settings["enable"]:
        return gm.forward
    return compile_graph(gm, example_inputs, settings)


def compile_graph(gm, example_inputs, settings, name="graph", on_graph=None, run=None, on_executable=None):
    """What the backend does with Dynamo's graph. `on_graph` receives each ir graph, `on_executable` what runs it; `run`,
    where given, is what a call executes instead."""
    labels = [clean(label, name) for label in compat.dynamo_labels(gm)]
    checks.inputs(labels, compat.dynamo_values(gm, example_inputs))
    if (node := compat.number_from_data(gm)) is not None:
        raise depends_on_data(node)
    attention.keep_attention(gm)
    made = []

    def compiler(lowered, lowered_inputs):
        if compat.merges_inputs(example_inputs):
            raise UnsupportedError(
                f"arguments of {', '.join(map(repr, labels))} share memory, and one of them is written: where they overlap may be "
                f"elsewhere in the next call. Pass a .clone(), or take the part of the whole inside the function"
            )
        with compat.real_tensors():
            static = compat.static_inputs()
            text = fx.serialise(lowered, name, labels, static, compat.aliased_outputs())
        graph, layout = _core.Graph.from_fx_json(text)
        shapes = ", ".join(f"{item['name']}{item['sizes']}" for item in graph.inputs)
        logger.info("captured %s for %s: %d nodes", name, shapes, len(graph.nodes))
        if settings["verbose"]:
            print(graph)
        if on_graph is not None:
            on_graph(graph)
        if run is not None:
            return compat.boxed(run)
        if settings["dry_run"]:
            return compat.boxed(lambda inputs: lowered.forward(*inputs))
        returned = compat.returned_nodes(lowered)
        tensors = [value for value in [*lowered_inputs, *map(compat.example_value, returned)] if isinstance(value, torch.Tensor)]
        device = tensors[0].device if tensors else torch.device("cpu")
        checks.results(returned, device)
        with compat.real_tensors():
            arguments = len(lowered_inputs) if compat_calls.passes_through(lowered, example_inputs) else None
            executable = dispatch.Executable(graph, json.loads(layout), settings, lowered, device, static, arguments)
        # Dynamo may keep what it is given for ever: it is not to keep the program where somebody else does.
        held = weakref.ref(executable) if on_executable is not None else lambda: executable
        made.append(held)
        if on_executable is not None:
            on_executable(executable)

        def call(inputs):
            results = held()(inputs)
            inputs.clear()
            return results

        return compat.boxed(call)

    try:
        return compat.marked(compat.lower(gm, example_inputs, compiler), made)
    except compat.DataDependent as error:
        raise depends_on_data(compat.executed_node(gm, error)) from None


def depends_on_data(node):
    """The error for a number that only the data tell, such as x.item() or an index that is a tensor."""
    source = compat.source_of(node) if node is not None else ""
    return UnsupportedError(
        f"{compat.target_name(node) if node is not None else 'an operation'}{' at ' + source if source else ''} needs a number "
        f"out of a tensor's data, such as .item() or a tensor as an index: a program is the same for all data. Keep it a "
        f"tensor (x * t, not x * t.item()), or take the number outside the compiled function"
    )


def clean(label, name):
    """Without the name of the wrapped callable in front: "fn.0.weight" is "0.weight"."""
    return label.removeprefix("fn.") if label.startswith("fn.") else label
