"""Chains of products: layers of models, alone and behind each other."""

from gpu.families.case import Case, Operand
from gpu.families.products import SIXTEEN_BITS, matrix
from gpu.families.sizes import MOST_BYTES, MOST_FLOP, even, log_uniform, side, until

ACTIVATIONS = {
    "none": "{}",
    "relu": "torch.relu({})",
    "gelu_erf": "F.gelu({})",
    "gelu_tanh": 'F.gelu({}, approximate="tanh")',
    "silu": "F.silu({})",
    "tanh": "torch.tanh({})",
    "sigmoid": "torch.sigmoid({})",
}
GAIN = {"none": 1.0, "relu": 1.4, "gelu_erf": 1.5, "gelu_tanh": 1.5, "silu": 1.6, "tanh": 1.5, "sigmoid": 2.0}


def defined(operands, lines, result="x"):
    body = "".join(f"    {line}\n" for line in [*lines, f"return {result}"])
    return f"def f({', '.join(operand.name for operand in operands)}):\n{body}"


def chain_fits(rows, widths):
    """Whether a chain through these widths keeps the limits of a case."""
    weights = sum(a * b for a, b in zip(widths, widths[1:], strict=False))
    return 2 * rows * weights <= MOST_FLOP and 2 * (weights + rows * sum(widths)) <= MOST_BYTES


def linear_chain(rng, name):
    layers, dtype = rng.randint(2, 8), rng.choice(SIXTEEN_BITS)
    one_width = rng.random() < 0.5

    def draw():
        first = side(rng, 512, 8192)
        return side(rng, 1, 8192), [first, *[first if one_width else side(rng, 512, 8192) for _ in range(layers)]]

    rows, widths = until(draw, lambda drawn: chain_fits(*drawn))
    activation = rng.choice(list(ACTIVATIONS))
    bias = rng.choice(["vector", "vector", "matrix", "none"])
    residual = rng.random() < 0.3
    last = rng.random() < 0.5  # an activation behind the last layer too
    operands, lines = [Operand.contiguous("x", dtype, [rows, widths[0]])], []
    for i, (inner, outer) in enumerate(zip(widths, widths[1:], strict=False)):
        chosen = activation if last or i < layers - 1 else "none"
        operands.append(Operand.contiguous(f"w{i}", dtype, [outer, inner], GAIN[chosen] * inner**-0.5))
        value = f"F.linear(x, w{i}{f', b{i}' if bias == 'vector' else ''})"
        if bias != "none":
            operands.append(Operand.contiguous(f"b{i}", dtype, [outer] if bias == "vector" else [rows, outer], 0.25))
        if bias == "matrix":
            value += f" + b{i}"
        value = ACTIVATIONS[chosen].format(value)
        lines.append(f"x = {value}{' + x' if residual and inner == outer else ''}")
    return Case(name, defined(operands, lines), operands)


def gated_mlp(rng, name):
    dtype = rng.choice(SIXTEEN_BITS)
    hidden = side(rng, 1024, 4096)
    inner = rng.choice([hidden * 4, hidden * 2, -(-hidden * 8 // 3 // 64) * 64, side(rng, 2048, 14336)])
    tokens = until(lambda: side(rng, 1, 8192), lambda rows: 6 * rows * hidden * inner <= MOST_FLOP)
    operands = [
        Operand.contiguous("x", dtype, [tokens, hidden]),
        Operand.contiguous("gate", dtype, [inner, hidden], hidden**-0.5),
        Operand.contiguous("up", dtype, [inner, hidden], hidden**-0.5),
        Operand.contiguous("down", dtype, [hidden, inner], 2 * inner**-0.5),
    ]
    return Case(name, defined(operands, [], "F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down) + x"), operands)


def seed_mlp(rng, name):
    """Stacked weights, and a bias of the output's full shape."""
    dtype, layers = rng.choice(SIXTEEN_BITS), rng.choice([2, 3, 3, 4])

    def draw():
        sizes = [512, 1024, 2048, 4096]
        width = rng.choice(sizes) if rng.random() < 0.5 else even(rng, 512, 4096)
        return rng.choice([width, width, rng.choice(sizes), even(rng, 128, 8192)]), width

    rows, width = until(draw, lambda drawn: chain_fits(drawn[0], [drawn[1]] * (layers + 1)))
    operands = [
        Operand.contiguous("x", dtype, [rows, width]),
        Operand.contiguous("W", dtype, [layers, width, width], (2 / width) ** 0.5),
        Operand.contiguous("b", dtype, [layers, rows, width], 0.25),
    ]
    return Case(name, defined(operands, [f"x = torch.relu(x @ W[{i}] + b[{i}])" for i in range(layers)]), operands)


def product_chain(rng, name):
    layers, dtype = rng.randint(2, 6), rng.choice(SIXTEEN_BITS)
    widths, rows = until(
        lambda: ([side(rng, 128, 8192) for _ in range(layers + 1)], side(rng, 1, 8192)),
        lambda drawn: chain_fits(drawn[1], drawn[0]),
    )
    operands = [Operand.contiguous("x", dtype, [rows, widths[0]])]
    for i, (inner, outer) in enumerate(zip(widths, widths[1:], strict=False)):
        operands.append(matrix(rng, f"w{i}", dtype, [inner, outer], inner**-0.5, rng.choice(["rows", "columns"])))
    return Case(name, defined(operands, [f"x = x @ w{i}" for i in range(layers)]), operands)


def few_rows(rng, name):
    """Against weights of 64 MB and more, which are all that moves: alone, and eight behind each other."""
    dtype, layers = rng.choice(SIXTEEN_BITS), rng.choice([1, 1, 8])
    rows = log_uniform(rng, 1, 32)
    most = MOST_BYTES / layers * 0.95

    def draw():
        return side(rng, 2048, 16384), side(rng, 2048, 16384)

    inner, outer = until(draw, lambda sides: 64 * 2**20 <= 2 * sides[0] * sides[1] <= most)
    operands, lines = [Operand.contiguous("x", dtype, [rows, inner])], []
    form = rng.choice(["linear", "linear", "product"])
    for i in range(layers):
        scale = inner**-0.5
        if form == "linear":
            operands.append(Operand.contiguous(f"w{i}", dtype, [outer, inner], scale))
            lines.append(f"x = F.linear(x, w{i})")
        else:
            operands.append(Operand.contiguous(f"w{i}", dtype, [inner, outer], scale))
            lines.append(f"x = x @ w{i}")
        inner, outer = outer, inner
    return Case(name, defined(operands, lines), operands)
