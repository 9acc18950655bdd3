"""What moves and computes nothing: other orders of dimensions, slices with steps, casts. Results have eager's bits."""

import math

from gpu.families.case import Case, Operand, contiguous_strides
from gpu.families.sizes import MOST_BYTES, log_uniform, mixed, side

ITEMSIZE = {"bf16": 2, "f16": 2, "f32": 4}
CASTS = {"bf16": "torch.bfloat16", "f16": "torch.float16", "f32": "torch.float32"}
SMALL_INNER = (2, 3, 4, 5, 7, 8, 12, 16, 17, 33)


def moved(rng, rank):
    """An order of dimensions that is not the order they have."""
    while True:
        order = list(range(rank))
        rng.shuffle(order)
        if order != list(range(rank)):
            return order


def dims(rng, rank, elements):
    """So many dimensions with about so many elements, a third of the inner ones small."""
    shape, left = [], elements
    for dim in range(rank - 1):
        most = max(2, min(int(left ** (1 / (rank - dim)) * 4), left // 2, 16384))
        small = dim == 0 and rng.random() < 0.35
        shape.insert(0, rng.choice(SMALL_INNER) if small else side(rng, 24 if most > 64 else 2, most))
        left = max(2, left // shape[0])
    shape.insert(0, left if rng.random() < 0.2 or left < 16 else left // 8 * 8)
    return shape


def permutation(rng, name, elements, dtype):
    rank = rng.choice([2, 2, 3, 4])
    shape = dims(rng, rank, elements)
    order = moved(rng, rank)
    form = rng.choice([".contiguous()", ".clone(memory_format=torch.contiguous_format)"])
    view = "x.t()" if rank == 2 else f"x.permute({', '.join(map(str, order))})"
    return Case(name, f"def f(x):\n    return {view}{form}\n", [Operand.contiguous("x", dtype, shape)], exact=True)


def stepped(rng, name, elements, dtype):
    """One or two dimensions taken with a step, from an offset."""
    rank = rng.randint(1, 4)
    shape = dims(rng, rank, elements) if rank > 1 else [max(8, elements)]
    chosen = sorted(rng.sample(range(rank), min(rank, rng.choice([1, 1, 2]))))
    slices = [":"] * rank
    for dim in chosen:
        step = rng.choice([2, 3, 4])
        offset = rng.choice([0, 1, 3]) if shape[dim] > 8 else 0
        slices[dim] = f"{offset or ''}::{step}"
    return Case(
        name,
        f"def f(x):\n    return x[{', '.join(slices)}].clone(memory_format=torch.contiguous_format)\n",
        [Operand.contiguous("x", dtype, shape)],
        exact=True,
    )


def cast(rng, name, elements, dtype):
    rank = rng.randint(1, 4)
    shape = dims(rng, rank, elements) if rank > 1 else [elements]
    operand = Operand.contiguous("x", dtype, shape)
    if rng.random() < 0.3 and rank > 1:
        operand.strides = contiguous_strides([*shape[:-1], shape[-1] + rng.choice([1, 8])])
    to = rng.choice([torch_name for name, torch_name in CASTS.items() if name != dtype])
    return Case(name, f"def f(x):\n    return x.to({to})\n", [operand], exact=True)


def copy(rng, name):
    elements = mixed(rng, 16, 2**16, 2**25)
    make = rng.choice([permutation, permutation, stepped, cast])
    return make(rng, name, elements, rng.choice(list(ITEMSIZE)))


def copy_large(rng, name):
    """Transposes and permutations of 32 MB and more."""
    while True:
        dtype = rng.choice(list(ITEMSIZE))
        case = permutation(rng, name, log_uniform(rng, 32 * 2**20, MOST_BYTES // 2) // ITEMSIZE[dtype], dtype)
        size = math.prod(case.operands[0].shape) * ITEMSIZE[dtype]
        if 32 * 2**20 <= size <= MOST_BYTES // 2:
            return case
