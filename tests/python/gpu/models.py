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


def in_fp32(function, *args):
    """The result of fp32 throughout, by which errors of 16-bit types count."""
    return function(*[arg.float() for arg in args])


def error(result, reference):
    """By the root of the mean square."""
    return (result.double() - reference.double()).pow(2).mean().sqrt().item()


def close(ours, theirs, factor=1, reference=None):
    """As near as two orders of summation in the type are, by the root of the mean square. With a `reference` in fp32, and as
    many values that it is no matter of chance, also no further from that than 1.1 times eager's result `theirs`."""
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    assert torch.isfinite(ours).all()
    scale = theirs.double().pow(2).mean().sqrt().item()
    apart = error(ours, theirs)
    assert apart <= factor * TOLERANCES[ours.dtype] * scale, f"error {apart:.3g}, values {scale:.3g}"
    if reference is not None and ours.numel() >= 1000:
        mine, eagers = error(ours, reference), error(theirs, reference)
        assert mine <= 1.1 * eagers, f"error against fp32 {mine:.3g}, eager's {eagers:.3g}"
