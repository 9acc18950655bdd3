"""Functions whose captured graphs are kept in tests/golden. Line numbers are part of the graphs: add at the end."""

import torch


def mlp(x, W, b):
    for i in range(3):
        x = torch.relu(x @ W[i] + b[i])
    return x


def linear_gelu(x, weight, bias):
    return torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias), approximate="tanh")


def addmm(bias, a, b):
    return torch.addmm(bias, a, b.t(), beta=0.5, alpha=2.0)


def batched(q, k):
    scores = torch.bmm(q.transpose(0, 1), k.permute(1, 2, 0))
    return scores.reshape(-1, scores.shape[-1])


def cache_update(cache, row, x):
    cache[:, 2:3] = row
    x.mul_(0.5)
    return torch.bmm(x, cache.transpose(1, 2))


def where_casts(mask, indices, x):
    chosen = torch.where(mask, x, torch.tensor(-1.0))
    return chosen.to(torch.bfloat16), (indices.to(torch.float32) + 1.5).clamp(0.0, 4.0), x > 0


def reshape_copy(x):
    return x.t().reshape(-1) * 2, x[::2, 1]


def chain(x, gate):
    return torch.nn.functional.silu(gate) * x + 0.1 * torch.sigmoid(x) ** 2


def make_mlp(size, dtype=torch.bfloat16):
    """Inputs of the seed's MLP, without data worth reading."""
    return (
        torch.empty(size, size, dtype=dtype),
        torch.empty(3, size, size, dtype=dtype),
        torch.empty(3, size, size, dtype=dtype),
    )


def empty(*shape, dtype=torch.bfloat16):
    return torch.empty(*shape, dtype=dtype)


GOLDENS = {
    "mlp_1024": (mlp, lambda: make_mlp(1024)),
    "mlp_4096": (mlp, lambda: make_mlp(4096)),
    "linear_gelu": (linear_gelu, lambda: (empty(4, 24, 64), empty(96, 64), empty(96))),
    "addmm": (addmm, lambda: (empty(32), empty(48, 64), empty(32, 64))),
    "batched": (batched, lambda: (empty(16, 4, 32), empty(24, 4, 32))),
    "cache_update": (cache_update, lambda: (empty(2, 8, 16), empty(2, 1, 16), empty(2, 4, 16))),
    "where_casts": (
        where_casts,
        lambda: (
            torch.zeros(5, 7, dtype=torch.bool),
            torch.zeros(5, 7, dtype=torch.int64),
            empty(5, 7, dtype=torch.float32),
        ),
    ),
    "reshape_copy": (reshape_copy, lambda: (empty(6, 10),)),
    "chain": (chain, lambda: (empty(33, 65), empty(33, 65))),
}
