"""Chains of pointwise operations over tensors of any shape, type, layout and broadcast."""

import math

from gpu.families.case import Case, Operand, contiguous_strides
from gpu.families.expressions import expression
from gpu.families.sizes import MOST_BYTES, log_uniform, mixed, side

NARROW = (17, 19, 23)
TORCH_NAMES = {"bf16": "torch.bfloat16", "f16": "torch.float16", "f32": "torch.float32"}
LARGE = 64 * 2**20
MOST_SPAN = 600 * 2**20  # bytes of memory that one operand lies in


def shape_of(rng, elements):
    """Of rank 1 to 4 with about so many elements; a quarter has a narrow last dimension, a fifth of the sizes is uneven."""
    rank = rng.randint(1, 4)
    if rank == 1 and elements < 8:
        return [elements]
    left, shape = elements, []
    if rank > 1 and rng.random() < 0.25:
        shape.append(rng.choice(NARROW))
        left = max(1, left // shape[0])
    while len(shape) < rank - 1:
        shape.insert(0, side(rng, 1, max(1, min(left, 8192))))
        left = max(1, left // shape[0])
    first = max(1, left)
    if first > 8 and rng.random() < 0.8:
        first = first // 8 * 8
    shape.insert(rng.randrange(len(shape) + 1) if shape and shape[-1] not in NARROW else 0, first)
    return shape


def broadcast(rng, shape):
    """A shape that expands to this one, and how."""
    rank = len(shape)
    form = rng.choice(["row", "column", "scalar", "inner", "leading", "rank0"])
    if form == "row":
        return [shape[-1]], form
    if form == "column":
        return [*shape[:-1], 1], form
    if form == "scalar":
        return [1] * rank, form
    if form == "rank0":
        return [], form
    if form == "leading":
        return shape[rng.randrange(rank) :], form
    inner = [1 if rng.random() < 0.5 else size for size in shape]
    return inner, form


def laid_out(rng, operand):
    """As it is, with dimensions in another order, a slice with offset and step, or repeated by a stride of zero."""
    shape, rank = operand.shape, len(operand.shape)
    form = rng.choice(["contiguous"] * 5 + ["transposed", "sliced", "stepped", "expanded"])
    if rank == 0 or form == "contiguous":
        return operand
    if form == "transposed" and rank > 1:
        order = list(range(rank))
        rng.shuffle(order)
        return Operand.ordered(operand.name, operand.dtype, shape, order)
    if form == "expanded" and rank > 1:
        operand.strides[rng.randrange(rank - 1)] = 0
        return operand
    dim = rng.randrange(rank)
    step = rng.choice([2, 3]) if form == "stepped" else 1
    offset, extra = rng.choice([0, 1, 3, 8]), rng.choice([0, 1, 8])
    whole = list(shape)
    whole[dim] = offset + (shape[dim] - 1) * step + 1 + extra
    strides = contiguous_strides(whole)
    moved = offset * strides[dim]
    strides[dim] *= step
    sliced = Operand(operand.name, operand.dtype, list(shape), strides, moved)
    itemsize = 4 if operand.dtype == "f32" else 2
    return sliced if sliced.span * itemsize <= MOST_SPAN else operand


def of_shape(rng, name, shape):
    count = rng.choice([1, 1, 2, 2, 3, 4])
    one_type = rng.choice(list(TORCH_NAMES)) if rng.random() < 0.7 else None
    operands = []
    for i in range(count):
        dtype = one_type or rng.choice(list(TORCH_NAMES))
        own = shape if i == 0 or rng.random() < 0.5 else broadcast(rng, shape)[0]
        operands.append(laid_out(rng, Operand.contiguous(f"x{i}", dtype, own)))
    rng.shuffle(operands)
    names = [operand.name for operand in operands]
    value = expression(rng, names, rng.randint(1, 5) if count == 1 else rng.randint(0, 5))
    if rng.random() < 0.15:
        value = f"({value}).to({rng.choice(list(TORCH_NAMES.values()))})"
    return Case(name, f"def f({', '.join(names)}):\n    return {value}\n", operands)


def pointwise(rng, name):
    return of_shape(rng, name, shape_of(rng, mixed(rng, 1, 2**16, 2**25)))


def pointwise_large(rng, name):
    """The largest operand has 64 MB and more."""
    while True:
        elements = log_uniform(rng, LARGE // 4, 2**27)
        case = of_shape(rng, name, shape_of(rng, elements))
        largest = max(operand.bytes for operand in case.operands)
        if largest >= LARGE and case.bytes <= MOST_BYTES and math.prod(largest_shape(case)) <= 1.3 * 2**27:
            return case


def largest_shape(case):
    return max((operand.shape for operand in case.operands), key=math.prod)
