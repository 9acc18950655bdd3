"""What the tests on a GPU compile, and how results are compared."""

import torch

TOLERANCES = {torch.bfloat16: 1e-2, torch.float16: 2e-3, torch.float32: 1e-5}


def mlp(x, W, b):
    for i in range(W.shape[0]):
        x = torch.relu(x @ W[i] + b[i])
    return x


def inputs(rows, width, layers=3, dtype=torch.bfloat16, seed=0):
    generator = torch.Generator("cuda").manual_seed(seed)

    def random(*shape):
        return torch.randn(*shape, device="cuda", generator=generator)

    weights = random(layers, width, width) * (2 / width) ** 0.5
    return random(rows, width).to(dtype), weights.to(dtype), (random(layers, rows, width) / 4).to(dtype)


def close(ours, theirs, factor=1):
    """As near as two orders of summation in the type are, by the root of the mean square."""
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    dtype = ours.dtype
    ours, theirs = ours.double(), theirs.double()
    scale = theirs.pow(2).mean().sqrt().item()
    error = (ours - theirs).pow(2).mean().sqrt().item()
    assert error <= factor * TOLERANCES[dtype] * scale, f"error {error:.3g}, values {scale:.3g}"
    assert torch.isfinite(ours).all()
