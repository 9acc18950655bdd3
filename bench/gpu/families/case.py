"""A case of a sweep as plain data: a function's source and the tensors that it takes. Any process makes both anew from it."""

import dataclasses
import functools
import linecache
import math
import re
import zlib

import torch
from torch.utils.flop_counter import FlopCounterMode

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
CAST = re.compile(r"\.to\(torch\.\w+\)")


def contiguous_strides(shape):
    strides = [1] * len(shape)
    for dim in reversed(range(len(shape) - 1)):
        strides[dim] = strides[dim + 1] * max(shape[dim + 1], 1)
    return strides


@dataclasses.dataclass
class Operand:
    """A view of flat memory: strides and offset count elements. Values are normal, times `scale`."""

    name: str
    dtype: str
    shape: list
    strides: list
    offset: int = 0
    scale: float = 1.0

    @classmethod
    def contiguous(cls, name, dtype, shape, scale=1.0):
        return cls(name, dtype, list(shape), contiguous_strides(shape), 0, scale)

    @classmethod
    def ordered(cls, name, dtype, shape, order, scale=1.0):
        """Whose dimensions lie in memory in this order, the innermost last."""
        packed = contiguous_strides([shape[dim] for dim in order])
        strides = [packed[order.index(dim)] for dim in range(len(shape))]
        return cls(name, dtype, list(shape), strides, 0, scale)

    @property
    def span(self):
        return self.offset + 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))

    @property
    def bytes(self):
        """That a reader needs: an element repeated by a stride of zero counts once."""
        used = math.prod(size for size, stride in zip(self.shape, self.strides, strict=True) if stride)
        return used * DTYPES[self.dtype].itemsize

    def view(self, flat):
        return flat.as_strided(self.shape, self.strides, self.offset)

    def empty(self, device, dtype=None):
        return self.view(torch.zeros(self.span, device=device, dtype=dtype or DTYPES[self.dtype]))

    def random(self, device, generator):
        flat = torch.randn(self.span, device=device, generator=generator)
        return self.view(flat.mul_(self.scale).to(DTYPES[self.dtype]))

    def __str__(self):
        packed = self.strides == contiguous_strides(self.shape)
        layout = "" if packed else f" strides {self.strides}"
        return f"{self.name} {self.dtype}{self.shape}{layout}{f' offset {self.offset}' if self.offset else ''}"


@dataclasses.dataclass
class Case:
    """`source` defines f over the operands. `exact`: a result must have eager's bits."""

    name: str
    source: str
    operands: list
    exact: bool = False

    @classmethod
    def from_dict(cls, values):
        return cls(**{**values, "operands": [Operand(**operand) for operand in values["operands"]]})

    def to_dict(self):
        return dataclasses.asdict(self)

    @property
    def family(self):
        return self.name.partition("/")[0]

    def _defined(self, source):
        name = f"<case {self.name}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        names = {"torch": torch, "F": torch.nn.functional}
        exec(compile(source, name, "exec"), names)
        return names["f"]

    def function(self):
        """With a code object of its own in every call, so that compiled forms of it share nothing in Dynamo."""
        return self._defined(self.source)

    def inputs(self, device, seed):
        generator = torch.Generator(device).manual_seed(seed * 2**32 + zlib.crc32(self.name.encode()))
        return [operand.random(device, generator) for operand in self.operands]

    def blanks(self, device):
        """Tensors of zeros in the layout of the inputs."""
        return [operand.empty(device) for operand in self.operands]

    def reference(self, inputs, dtype):
        """The function in `dtype` throughout: casts inside it are left out."""
        return self._defined(CAST.sub("", self.source))(*[tensor.to(dtype) for tensor in inputs])

    @functools.cached_property
    def _costs(self):
        with FlopCounterMode(display=False) as counter:
            result = self.function()(*[operand.empty("meta") for operand in self.operands])
        output = result.numel() * result.element_size()
        return counter.get_total_flops(), output, result.numel()

    @property
    def flop(self):
        """Of the products."""
        return self._costs[0]

    @property
    def bytes(self):
        """That must move: every input once and the result."""
        return sum(operand.bytes for operand in self.operands) + self._costs[1]

    @property
    def output_elements(self):
        return self._costs[2]
