"""What is measured: a function, its inputs, and a reference in fp32."""

import dataclasses
from collections.abc import Callable

import torch

DEVICE = "cuda"
DTYPE = torch.bfloat16


def mlp(x, W, b):
    for i in range(W.shape[0]):
        x = torch.relu(x @ W[i] + b[i])
    return x


def products(x, W):
    for i in range(W.shape[0]):
        x = x @ W[i]
    return x


@dataclasses.dataclass
class Workload:
    name: str
    function: Callable
    rows: int
    width: int
    bias: bool
    layers: int = 3

    def inputs(self, seed):
        """Random data: x, then weights that keep the size of x, then biases."""
        generator = torch.Generator(DEVICE).manual_seed(seed)

        def random(*shape):
            return torch.randn(*shape, device=DEVICE, generator=generator)

        weights = random(self.layers, self.width, self.width) * ((2 if self.bias else 1) / self.width) ** 0.5
        tensors = [random(self.rows, self.width), weights]
        if self.bias:
            tensors.append(random(self.layers, self.rows, self.width) / 4)
        return [tensor.to(DTYPE) for tensor in tensors]

    @property
    def operations(self):
        return self.layers * 2 * self.rows * self.width * self.width

    @property
    def bytes(self):
        """Of the inputs and the result."""
        elements = 2 * self.rows * self.width + self.layers * self.width * self.width
        return 2 * (elements + (self.layers * self.rows * self.width if self.bias else 0))

    def reference(self, inputs):
        """In fp32 throughout, without TF32."""
        return self.function(*[tensor.float() for tensor in inputs])


WORKLOADS = [
    Workload("mlp_1024", mlp, 1024, 1024, True),
    Workload("mlp_512x1024", mlp, 512, 1024, True),
    Workload("mlp_2048", mlp, 2048, 2048, True),
    Workload("mlp_4096", mlp, 4096, 4096, True),
    # 144 of the largest tiles for 132 SMs: a layer's second round is nearly empty.
    Workload("mlp_1536x3072", mlp, 1536, 3072, True),
    Workload("products_1024", products, 1024, 1024, False),
    Workload("products_2048", products, 2048, 2048, False),
    Workload("products_1536x3072", products, 1536, 3072, False),
    Workload("products_4096", products, 4096, 4096, False),
    # Alone, so that no other product fills its last round.
    Workload("product_1536x3072", products, 1536, 3072, False, layers=1),
    Workload("product_2304", products, 2304, 2304, False, layers=1),
]
