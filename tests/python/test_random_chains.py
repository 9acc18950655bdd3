"""Random functions of operations that PyTorch computes exactly, or rounds once: results are eager's bits, or the call is
refused. MEGAKITTENS_LONG=1 makes many more."""

import os
import random

import pytest
import torch

import megakittens

SEEDS = range(2000 if os.environ.get("MEGAKITTENS_LONG") else 60)
FLOATS = [torch.bfloat16, torch.float16, torch.float32]
NUMBERS = [0, 1, -2, 0.1, -0.7, 3.5, 1e-3, float("inf"), True]  # some that 16 bits do not hold
FINITE = [0.0, -0.0, 0.1, -0.7, 1.0, 3.5, -2.0, 1e-3, 257.0]


def step(rng, count, types):
    """A function of `count` tensors that makes one more of some of them."""
    a, b, c = (rng.randrange(count) for _ in range(3))
    number, dtype = rng.choice(NUMBERS), rng.choice(types)
    compare = rng.choice([torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge])
    binary = rng.choice([torch.add, torch.sub, torch.mul, torch.maximum, torch.minimum])
    logic = rng.choice([torch.logical_and, torch.logical_or])
    return rng.choice(
        [
            lambda v: -v[a],
            lambda v: v[a].abs(),
            lambda v: torch.relu(v[a]),
            lambda v: binary(v[a], v[b]),
            lambda v: v[a] * 0.5,
            lambda v: compare(v[a], v[b]),
            lambda v: compare(v[a], number),
            lambda v: compare(v[a], torch.tensor(0.1)),
            lambda v: torch.where(compare(v[a], number), v[b], v[c]),
            lambda v: torch.where(compare(v[a], v[b]), v[c], number),
            lambda v: logic(v[a], v[b]),
            lambda v: torch.logical_not(v[a]),
            lambda v: v[a].to(dtype),
            lambda v: v[a].masked_fill(compare(v[b], v[c]), number),
            lambda v: v[a].t().contiguous().t(),
            lambda v: v[a][:1].expand(v[a].shape) if v[a].dim() else v[a],
        ]
    )


def function_and_inputs(seed):
    rng = random.Random(seed)
    # What is not finite has no value as an integer.
    finite = seed % 2 == 0
    types = [*FLOATS, torch.bool, *([torch.int32, torch.int64] if finite else [])]
    steps = [step(rng, 3 + k, types) for k in range(rng.randint(1, 7))]

    def function(x, y, z):
        values = [x, y, z]
        for each in steps:
            values.append(each(values))
        return values[-1], values[len(values) // 2]

    # Few different values, so that many are equal, and numbers of the function among them.
    grid = torch.tensor(FINITE if finite else [*FINITE, float("inf"), float("nan")])
    generator = torch.Generator().manual_seed(seed)
    shapes = [(5, 9), (5, 9), () if seed % 3 == 0 else (5, 9)]
    kinds = [*FLOATS, torch.bool, torch.int64] if finite else FLOATS
    return function, [grid[torch.randint(len(grid), shape, generator=generator)].to(rng.choice(kinds)) for shape in shapes]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_function_gives_eagers_bits_or_is_refused(seed):
    torch._dynamo.reset()  # all of them are one code object to Dynamo
    function, inputs = function_and_inputs(seed)
    try:
        expected = function(*inputs)
    except RuntimeError:
        return  # PyTorch has no such operation for these types
    for device in ("reference", "emulator"):
        try:
            results = megakittens.compile(function, device=device)(*inputs)
        except megakittens.UnsupportedError:
            continue
        for result, wanted in zip(results, expected, strict=True):
            assert (result.dtype, result.shape, result.stride()) == (wanted.dtype, wanted.shape, wanted.stride())
            torch.testing.assert_close(result, wanted, rtol=0, atol=0, equal_nan=True)


def test_enough_of_the_random_functions_run():
    ran = 0
    for seed in range(30):
        torch._dynamo.reset()
        function, inputs = function_and_inputs(seed)
        try:
            megakittens.compile(function)(*inputs)
            ran += 1
        except (megakittens.UnsupportedError, RuntimeError):
            pass
    assert ran >= 10
