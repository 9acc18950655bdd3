"""From a graph to something that can be called.

An *engine* runs a graph's inputs: `engine.run(tensors) -> results`, one result an output of the graph; it writes mutated
inputs in place.
"""

import contextlib
import logging

import torch

from megakittens import _core, checks, compat, compat_calls, fx
from megakittens.cuda import TORCH_DTYPES, CudaEngine
from megakittens.engine import Engine
from megakittens.errors import UnsupportedError, UserError

logger = logging.getLogger("megakittens")

_said = set()


def _say_once(text):
    if text not in _said:
        _said.add(text)
        logger.warning(text)


class ReferenceEngine(Engine):
    """Evaluates the graph plainly on the CPU: slow, and right by construction."""

    def __init__(self, graph, settings, device, *_):
        self.graph = graph
        self.numerics = "eager" if settings["numerics"] == "eager" else "exact"
        self.device = device

    def run(self, tensors):
        spans = [item["span"] for item in self.graph.inputs]
        storages = [
            tensor.detach().as_strided((span,), (1,)).to("cpu", torch.float32).contiguous().numpy()
            for tensor, span in zip(tensors, spans, strict=True)
        ]
        shown, after = self.graph.evaluate(storages, self.numerics)
        written = [(item, values) for item, values in zip(self.graph.outputs, shown, strict=True) if item["input"] is None]
        written += [(item, values) for item, values in zip(self.graph.inputs, after, strict=True) if item["mutated"]]
        for item, values in written:
            expect_exact_integers(item, torch.from_numpy(values))
        for item, tensor, span, values in zip(self.graph.inputs, tensors, spans, after, strict=True):
            if item["mutated"]:
                tensor.detach().as_strided((span,), (1,)).copy_(torch.from_numpy(values).to(tensor.dtype))
        results, memory = [], {}
        for output, values in zip(self.graph.outputs, shown, strict=True):
            if output["input"] is not None:
                results.append(view_of_input(tensors[output["input"]], output))
                continue
            if output["root"] not in memory:
                dtype = TORCH_DTYPES[output["dtype"]]
                memory[output["root"]] = torch.empty(output["span"], device=self.device, dtype=dtype)
            result = memory[output["root"]].as_strided(output["sizes"], output["strides"], output["offset"])
            # Where a result repeats elements each is written once.
            once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in output["strides"])
            result[once].copy_(torch.from_numpy(values).reshape(output["sizes"])[once])
            results.append(result)
        return results


def expect_exact_integers(item, values):
    """The reference keeps every value as fp32, which holds all integers below 2^24 and not all beyond."""
    if item["dtype"] in ("i32", "i64") and not bool((values.abs() < 2**24).all()):
        raise UnsupportedError(
            f"'{item['name']}' would be integers of 2^24 or more: device='reference' computes in fp32, which does not hold all "
            f"of those. Make them outside the compiled function"
        )


class EmulatorEngine(Engine):
    """Runs the scheduled program on the emulator, in the inputs' own memory."""

    def __init__(self, graph, settings, *_):
        self.graph = graph
        self.program = _core.schedule(graph, checks.scheduling(settings))
        self.check = settings["check"]
        _say_once("the inputs are on the CPU: programs run on the emulator, which is exact and slow")

    def run(self, tensors):
        shifted = [tensor.numel() > 0 and tensor.data_ptr() % tensor.element_size() != 0 for tensor in tensors]
        if any(shifted):
            return self._run_shifted(tensors, shifted)
        memory = {}
        kept = {}
        for port, tensor in zip(self.program.inputs, tensors, strict=True):
            memory[port["storage"]] = (tensor.data_ptr(), checks._end(tensor) - tensor.data_ptr() if tensor.numel() else 0)
        for number, storage in enumerate(self.program.storages):
            if storage["kind"] == "output":
                # Fresh for every call: results of earlier calls stay as they are.
                kept[number] = torch.empty(max(storage["bytes"], 1), dtype=torch.uint8, device="cpu")
                memory[number] = (kept[number].data_ptr(), storage["bytes"])
        self.program.run_emulator(memory, check=self.check)
        results = []
        for port, output in zip(self.program.outputs, self.graph.outputs, strict=True):
            if output["input"] is not None:
                results.append(view_of_input(tensors[output["input"]], output))
                continue
            dtype = TORCH_DTYPES[output["dtype"]]
            whole = kept[port["storage"]]
            elements = whole[: whole.numel() // dtype.itemsize * dtype.itemsize].view(dtype)
            if elements.numel() == 0 or 0 in port["sizes"]:
                results.append(torch.empty(port["sizes"], dtype=dtype, device="cpu"))
            else:
                results.append(elements.as_strided(port["sizes"], port["strides"], port["offset"]))
        return results

    def _run_shifted(self, tensors, shifted):
        """Elements at addresses that no machine loads them from are copied, and back where they are written."""
        ours = [checks.aligned_copy(tensor) if moved else tensor for tensor, moved in zip(tensors, shifted, strict=True)]
        results = self.run(ours)
        for item, copy, tensor, moved in zip(self.graph.inputs, ours, tensors, shifted, strict=True):
            if moved and item["mutated"]:
                tensor.detach().copy_(copy)
        for k, output in enumerate(self.graph.outputs):
            if output["input"] is not None:
                results[k] = view_of_input(tensors[output["input"]], output)
        return results


def view_of_input(tensor, output):
    """An output that shows the caller's own tensor."""
    return tensor.detach().as_strided(output["sizes"], output["strides"], tensor.storage_offset() + output["offset"])


def engine_for(graph, settings, device, static):
    """The engine that `device=` asks for; by default the one that runs where the inputs are."""
    kind = compat.device_kind(device)
    wanted = settings["device"] or {"cpu": "emulator", "cuda": "cuda"}.get(kind)
    engines = {"reference": ReferenceEngine, "emulator": EmulatorEngine, "cuda": CudaEngine}
    if wanted is None:
        raise UnsupportedError(
            f"nothing here runs tensors on '{device}': move them to a GPU or the CPU, or pass device='reference'"
        )
    needed = {"emulator": "cpu", "cuda": "cuda"}.get(wanted, kind)
    if needed != kind:
        raise UserError(f"device='{wanted}' runs tensors on '{needed}'; these are on '{device}'")
    return engines[wanted](graph, settings, device, static)


class Executable:
    """A captured graph with its engine: takes the placeholders' tensors and returns what the FX graph returns."""

    def __init__(self, graph, layout, settings, gm, device, static=frozenset(), arguments=None):
        """`layout`: how the graph maps to the call (from_fx.hpp). `arguments`: how many tensors Dynamo's graph takes, where that is all that AOTAutograd passes on."""
        self.graph = graph
        self.inputs = graph.inputs
        self.outputs = layout["outputs"]
        self.device = device
        self.grad_mode = torch.is_grad_enabled()  # of the calls that this is for: one of the guards
        # A place among the inputs of a call, or a constant of the graph: one without dimensions may be on the CPU beside
        # tensors on a GPU.
        self.sources = [
            place if isinstance(place, int) else fx.attribute(gm, place).to(device) for place in layout["inputs"]
        ]
        weights = [not isinstance(source, int) or source in static for source in self.sources]
        self.engine = engine_for(graph, settings, device, weights)
        self.arguments = arguments

    def fast_call(self, mismatch):
        """A function of Dynamo's tensors that does what a call of this does where they are as captured, else raises
        `mismatch`; None where only the usual way is right."""
        plain = isinstance(self.outputs, list) and all(isinstance(item, dict) and "output" in item for item in self.outputs)
        if self.arguments is None or not plain:
            return None
        return self.engine.fast_call(self.arguments, self.sources, [item["output"] for item in self.outputs], mismatch, self.grad_mode)

    def __call__(self, inputs):
        tensors = [inputs[source] if isinstance(source, int) else source for source in self.sources]
        checks.layouts(self.inputs, tensors, self.device, self.grad_mode)
        checks.overlapping(self.inputs, tensors)
        # What we make has memory, whichever mode the caller has switched on.
        with contextlib.nullcontext() if compat_calls.undisturbed() else compat.real_tensors():
            results = self.engine.run(tensors)
        return self._arrange(self.outputs, results)

    def _arrange(self, layout, results):
        if isinstance(layout, list):
            return [self._arrange(item, results) for item in layout]
        if isinstance(layout, dict):
            if "output" in layout:
                return results[layout["output"]]
            return {key.removeprefix("."): self._arrange(item, results) for key, item in layout.items()}
        return layout
