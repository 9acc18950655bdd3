"""The engine that runs a program on the GPU where the inputs are: one launch a call, on PyTorch's current stream."""

import sys

import torch

from megakittens import _core, checks, compat, compat_calls, compat_tensors, fx
from megakittens.engine import Engine
from megakittens.errors import CapacityError, ExecutionError, UserError

TORCH_DTYPES = {name: dtype for dtype, name in fx.DTYPES.items()}
ALIGNMENT = 16
COMPILES = (
    "the first call of a function compiles it, which cannot be part of a captured graph: call it once before the capture, "
    "with inputs of the same shapes"
)


def with_memory(action):
    """`action()`, and once more where the GPU was full and PyTorch's allocator gave back what nobody uses."""
    try:
        return action()
    except CapacityError:
        if compat.capturing():  # memory cannot be given back now
            raise
    _buried.clear()
    compat.empty_cache()
    return action()


_buried = []  # programs that ended during a capture, until the next time that memory can be given back


class Program(_core.CudaProgram):
    """A program whose end waits while the stream captures: the collector may come at any time, and giving the memory back
    would break the capture."""

    def __del__(self, finalizing=sys.is_finalizing):
        if not finalizing() and compat.capturing():
            _buried.append(self)


class Output:
    """One tensor that a call makes, and the results that show it."""

    def __init__(self, program, number):
        self.bytes = program.storages[number]["bytes"]
        self.ports = [k for k, port in enumerate(program.outputs) if port["storage"] == number]
        port = program.outputs[self.ports[0]]
        self.dtype = TORCH_DTYPES[port["dtype"]]
        self.sizes, self.strides = port["sizes"], port["strides"]
        # As a rule one result shows the whole storage; PyTorch's allocator rounds up what the program may touch.
        elements = 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True))
        padded = (elements * self.dtype.itemsize + 127) // 128 * 128
        self.whole = len(self.ports) == 1 and not port["offset"] and 0 not in self.sizes and padded >= self.bytes

    def allocate(self, device):
        if self.whole:
            return torch.empty_strided(self.sizes, self.strides, dtype=self.dtype, device=device)
        return torch.empty(max(self.bytes, 1), dtype=torch.uint8, device=device)

    def arguments(self):
        """What fast_call needs to allocate it."""
        return {
            "sizes": tuple(self.sizes),
            "strides": tuple(self.strides),
            "dtype": self.dtype,
            "element_bytes": self.dtype.itemsize,
            "bytes": self.bytes,
        }

    def show(self, tensor, port):
        """The result that `port` describes."""
        if self.whole:
            return tensor
        dtype = TORCH_DTYPES[port["dtype"]]
        if 0 in port["sizes"]:
            return torch.empty(port["sizes"], dtype=dtype, device=tensor.device)
        elements = tensor[: tensor.numel() // dtype.itemsize * dtype.itemsize].view(dtype)
        return elements.as_strided(port["sizes"], port["strides"], port["offset"])


class CudaEngine(Engine):
    """`static`: for each input whether it is a weight, which has the same address in most calls."""

    def __init__(self, graph, settings, device, static=()):
        if compat.capturing():
            raise UserError(COMPILES)
        _buried.clear()
        self.graph = graph
        self.device = device
        self.index = compat.device_index(device)
        machine = _core.cuda_device(self.index)
        options = checks.scheduling(settings)
        usual = {key: machine[key] for key in ("target", "sms", "cluster")}
        self.program = _core.schedule(graph, {**options, **usual})
        self.native = with_memory(lambda: Program(self.program, self.index, list(static)))
        self.mutated = [item["mutated"] for item in graph.inputs]
        kinds = [storage["kind"] for storage in self.program.storages]
        self.outputs = [Output(self.program, number) for number, kind in enumerate(kinds) if kind == "output"]
        self.places = self._places()
        self.reuse = settings["reuse_outputs"]
        self.kept = None  # where results are reused, the tensors whose memory they share

    def _places(self):
        """For each result: the number of the input it shows, or which of the call's tensors and how."""
        of_port = {k: output for output in self.outputs for k in output.ports}
        places = []
        for k, (port, result) in enumerate(zip(self.program.outputs, self.graph.outputs, strict=True)):
            if result["input"] is not None:
                places.append((None, result))
            else:
                places.append((self.outputs.index(of_port[k]), port))
        return places

    def run(self, tensors):
        given = [tensor.data_ptr() for tensor in tensors]
        if any(address % ALIGNMENT for address in given):
            return self._run_aligned(tensors)
        made = shown = self._allocate()
        if self.reuse and any(checks.share(ours, theirs) for ours in shown for theirs in tensors):
            made = self._fresh()  # an earlier result is an input: it may not be overwritten while it is read
        self._launch(given, [tensor.data_ptr() for tensor in made])
        if made is not shown:
            for ours, theirs in zip(shown, made, strict=True):
                ours.copy_(theirs)
        written = [tensor for tensor, mutated in zip(tensors, self.mutated, strict=True) if mutated]
        if written:
            compat_calls.note_written(written)
        return [self._result(tensors, shown, number, port) for number, port in self.places]

    def fast_call(self, arguments, sources, results, mismatch, grad_mode):
        if any(number is None or not self.outputs[number].whole for number, _ in self.places):
            return None
        kinds = compat_tensors.kinds([TORCH_DTYPES[item["dtype"]] for item in self.graph.inputs], self.device)
        numbers, *kinds = kinds or ({},)
        return _core.fast_call(
            self.native,
            {
                "exchange": compat_calls.exchange_api(),
                "device": compat_calls.exchange_device(self.device),
                "arguments": arguments,
                "kinds": kinds or None,
                "inputs": [self._input(item, source, numbers) for item, source in zip(self.graph.inputs, sources, strict=True)],
                "outputs": [output.arguments() for output in self.outputs],
                "results": [self.places[k][0] for k in results],
                "tensor_type": torch.Tensor,
                "parameter_type": torch.nn.Parameter,
                "mismatch": mismatch,
                "grad_mode": grad_mode,
                "execution_error": ExecutionError,
                "empty": None if self.reuse else compat_calls.quick_empty(self.device),
                "current_device": compat_calls.current_device(),
                "allocate": self._allocate,
                "written": compat_calls.note_written,
            },
        )

    @staticmethod
    def _input(item, source, numbers):
        """What fast_call asks of one input of the graph."""
        dtype = TORCH_DTYPES[item["dtype"]]
        constant = not isinstance(source, int)
        return {
            "place": -1 if constant else source,
            "constant": source if constant else None,
            "dtype": compat_calls.exchange_dtype(dtype),
            "number": numbers.get(dtype, 0),
            "sizes": item["sizes"],
            "strides": item["strides"],
            "bytes": item["span"] * dtype.itemsize if 0 not in item["sizes"] else 0,
            "mutated": item["mutated"],
        }

    def _allocate(self):
        # What a captured graph writes belongs to the graph, which may live longer than this.
        if not self.reuse or compat.capturing():
            return self._fresh()
        if self.kept is None or any(tensor.untyped_storage().nbytes() < needed for tensor, needed in self.kept):
            with torch.inference_mode(False):
                self.kept = [(tensor, tensor.untyped_storage().nbytes()) for tensor in self._fresh()]
        else:
            compat_calls.note_written([tensor for tensor, _ in self.kept])
        # The caller's own objects: what becomes of their shapes, their data or their history is not the next call's.
        return [tensor.detach() for tensor, _ in self.kept]

    def _fresh(self):
        return [output.allocate(self.device) for output in self.outputs]

    def _launch(self, given, made):
        stream = compat.current_stream(self.index)
        with_memory(lambda: self.native.launch(stream, given, made))

    def _result(self, tensors, made, number, port):
        if number is None:
            source = tensors[port["input"]]
            return source.detach().as_strided(port["sizes"], port["strides"], source.storage_offset() + port["offset"])
        return self.outputs[number].show(made[number], port)

    def _run_aligned(self, tensors):
        """Bulk copies need addresses that are multiples of 16: others are copied, and back where they are written."""
        aligned = [checks.aligned_copy(tensor) if tensor.data_ptr() % ALIGNMENT else tensor for tensor in tensors]
        results = self.run(aligned)
        for ours, theirs, mutated in zip(aligned, tensors, self.mutated, strict=True):
            if mutated and ours is not theirs:
                theirs.copy_(ours)
        for k, (number, port) in enumerate(self.places):
            if number is None:
                results[k] = self._result(tensors, (), None, port)
        return results

    def synchronize(self):
        if not compat.capturing():
            _buried.clear()
        self.native.synchronize()

    def close(self):
        if compat.capturing():
            raise UserError(f"'{self.graph.name}' cannot be closed during a capture, which it would break: end the capture first")
        self.kept = None
        _buried.clear()
        try:
            self.native.synchronize()  # tells of a launch that gave up
        finally:
            self.native.close()

    @property
    def workspace_bytes(self):
        return self.native.bytes
