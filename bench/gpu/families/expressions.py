"""Random pointwise expressions over the operations of docs/reference/operations.md, as source.

Every value carries a bound, so that the results of sixteen bits stay finite. What jumps (floor, comparisons) takes inputs
only: behind a rounded value it would compare luck.
"""

import dataclasses

MOST = 1e4
NORMAL = 6.0  # no value of a normal distribution is taken to be larger

# Each operation: source, and the bound of its value by that of its argument.
SMOOTH = {
    "neg": ("-{}", lambda a: a),
    "abs": ("{}.abs()", lambda a: a),
    "relu": ("torch.relu({})", lambda a: a),
    "gelu_erf": ("F.gelu({})", lambda a: a),
    "gelu_tanh": ('F.gelu({}, approximate="tanh")', lambda a: a),
    "silu": ("F.silu({})", lambda a: a),
    "sigmoid": ("torch.sigmoid({})", lambda a: 1),
    "tanh": ("torch.tanh({})", lambda a: 1),
    "sin": ("torch.sin({})", lambda a: 1),
    "cos": ("torch.cos({})", lambda a: 1),
    "erf": ("torch.erf({})", lambda a: 1),
    "exp": ("torch.exp({})", lambda a: 2.72**a if a < 40 else 1e30),
    "exp2": ("torch.exp2({})", lambda a: 2.0**a if a < 40 else 1e30),
    "square": ("torch.square({})", lambda a: a * a),
    "cube": ("{} ** 3", lambda a: a**3),
    "scaled": ("{} * 0.625", lambda a: a),
    "shifted": ("{} + 1.25", lambda a: a + 1.25),
    "from_number": ("2 - {}", lambda a: a + 2),
    "divided": ("{} / 3", lambda a: a),
    "clamp": ("torch.clamp({}, -1.5, 2.5)", lambda a: 2.5),
    # Where the argument must be positive it is made so.
    "log": ("torch.log({}.abs() + 0.5)", lambda a: 10),
    "log2": ("torch.log2({}.abs() + 0.5)", lambda a: 14),
    "log1p": ("torch.log1p({}.abs())", lambda a: 10),
    "sqrt": ("torch.sqrt({}.abs() + 0.5)", lambda a: (a + 0.5) ** 0.5),
    "rsqrt": ("torch.rsqrt({}.abs() + 0.5)", lambda a: 2),
    "reciprocal": ("torch.reciprocal({}.abs() + 0.5)", lambda a: 2),
    "pow": ("torch.pow({}.abs() + 0.5, 1.5)", lambda a: (a + 0.5) ** 1.5),
}
BINARY = {
    "add": ("{} + {}", lambda a, b: a + b),
    "sub": ("{} - {}", lambda a, b: a + b),
    "mul": ("{} * {}", lambda a, b: a * b),
    "div": ("{} / ({}.abs() + 0.5)", lambda a, b: 2 * a),
    "maximum": ("torch.maximum({}, {})", max),
    "minimum": ("torch.minimum({}, {})", max),
    "pow": ("torch.pow({}.abs() + 0.5, torch.tanh({}))", lambda a, b: a + 2.5),
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclasses.dataclass
class Value:
    source: str
    bound: float = NORMAL


def unary(rng, value):
    """One operation more, of those that keep the bound."""
    source, bound = rng.choice([each for each in SMOOTH.values() if each[1](value.bound) <= MOST])
    return Value(f"({source.format(value.source)})", bound(value.bound))


def joined(rng, a, b):
    source, bound = rng.choice([each for each in BINARY.values() if each[1](a.bound, b.bound) <= MOST])
    return Value(f"({source.format(a.source, b.source)})", bound(a.bound, b.bound))


def selected(rng, names, a, b):
    """One of two values, by a comparison of inputs or of an input and a number that all types hold."""
    left, compare = rng.choice(names), rng.choice(COMPARISONS)
    right = rng.choice([*names, "0.5", "0"])
    return Value(f"torch.where({left} {compare} {right}, {a.source}, {b.source})", max(a.bound, b.bound))


def expression(rng, names, operations):
    """Over all inputs of these names, with about so many operations beside those that join them."""
    values = [Value(name) for name in names]
    if rng.random() < 0.15:
        values[0] = Value(f"torch.floor({names[0]})", NORMAL + 1)
    for _ in range(operations):
        at = rng.randrange(len(values))
        values[at] = unary(rng, values[at])
    while len(values) > 1:
        b, a = values.pop(), values.pop()
        values.append(selected(rng, names, a, b) if rng.random() < 0.15 else joined(rng, a, b))
    return values[0].source
