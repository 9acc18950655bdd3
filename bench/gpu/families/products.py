"""Single products of two matrices, and of stacks of them."""

from gpu.families.case import Case, Operand
from gpu.families.sizes import MOST_BYTES, MOST_FLOP, even, side, uneven, until

SIXTEEN_BITS = ("bf16", "f16")
SOURCE = "def f(a, b):\n    return a @ b\n"


def matrix(rng, name, dtype, shape, scale, inner):
    """Of [.., rows, columns]; `inner` says which of the two is contiguous. Some rows are longer than what is taken of them."""
    rank = len(shape)
    order = list(range(rank))
    if inner == "rows":
        order[-2:] = [rank - 1, rank - 2]
    if rank == 3 and rng.random() < 0.3:
        order = [order[1], 0, order[2]]  # batches between the matrix's dimensions, as heads lie
    operand = Operand.ordered(name, dtype, shape, order, scale)
    if rank == 2 and rng.random() < 0.1:
        outer, length = order[0], shape[order[1]]
        extra = 8 * rng.randint(1, 16)
        operand.strides[outer] = length + extra
        operand.offset = rng.choice([0, 8, extra])
    return operand


def fits(m, n, k, batch=1):
    return 2 * batch * m * n * k <= MOST_FLOP and 2 * batch * (m * k + k * n + m * n) <= MOST_BYTES


def of_sizes(rng, name, m, n, k, batch=1, a_inner=None):
    dtype = rng.choice(SIXTEEN_BITS)
    a_shape, b_shape = [m, k], [k, n]
    if batch > 1:
        a_shape = [batch, m, k]
        b_shape = [batch, k, n] if rng.random() < 0.8 else b_shape
    a = matrix(rng, "a", dtype, a_shape, 1.0, a_inner or rng.choice(["rows", "columns"]))
    b = matrix(rng, "b", dtype, b_shape, k**-0.5, rng.choice(["rows", "columns"]))
    return Case(name, SOURCE, [a, b])


def product(rng, name):
    batch = rng.randint(2, 16) if rng.random() < 0.15 else 1
    m, n, k = until(lambda: [side(rng, 1, 8192) for _ in range(3)], lambda sides: fits(*sides, batch))
    return of_sizes(rng, name, m, n, k, batch)


def product_odd(rng, name):
    """At least one side is no multiple of 8."""

    def draw():
        chosen = [rng.random() < 0.5 for _ in range(3)]
        chosen[rng.randrange(3)] = True
        return [uneven(rng, 16, 8192) if odd else even(rng, 16, 8192) for odd in chosen]

    return of_sizes(rng, name, *until(draw, lambda sides: fits(*sides)))


def product_transposed(rng, name):
    sides = until(lambda: [side(rng, 16, 8192) for _ in range(3)], lambda sides: fits(*sides))
    return of_sizes(rng, name, *sides, a_inner="rows")


def product_square(rng, name):
    size = rng.choice([1024, 2048, 4096, 8192])
    return of_sizes(rng, name, size, size, size)


def product_multiple_of_8(rng, name):
    sides = until(lambda: [even(rng, 128, 8192) for _ in range(3)], lambda sides: fits(*sides))
    return of_sizes(rng, name, *sides)
