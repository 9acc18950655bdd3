"""The families of cases that a sweep draws from: {name: (generator, weight)}. A case depends on the sweep's seed, its family and its
number alone."""

import random

from gpu.families import copies, layers, pointwise, products

FAMILIES = {
    "product": (products.product, 12),
    "product_odd": (products.product_odd, 8),
    "product_transposed": (products.product_transposed, 6),
    "product_square": (products.product_square, 5),
    "product_multiple_of_8": (products.product_multiple_of_8, 8),
    "linear_chain": (layers.linear_chain, 12),
    "gated_mlp": (layers.gated_mlp, 8),
    "seed_mlp": (layers.seed_mlp, 6),
    "product_chain": (layers.product_chain, 5),
    "few_rows": (layers.few_rows, 8),
    "pointwise": (pointwise.pointwise, 14),
    "pointwise_large": (pointwise.pointwise_large, 10),
    "copy": (copies.copy, 8),
    "copy_large": (copies.copy_large, 6),
}
LARGE = ("pointwise_large", "copy_large")  # held against the device's own copy
FEWEST = 3


def make(seed, family, number):
    name = f"{family}/{number}"
    return FAMILIES[family][0](random.Random(f"{seed}/{name}"), name)


def counts(cases, families):
    """{family: how many}: by weight, each at least a few, together `cases` where that leaves each a few."""
    total = sum(FAMILIES[family][1] for family in families)
    dealt = {family: max(FEWEST, int(cases * FAMILIES[family][1] / total)) for family in families}
    heaviest = sorted(families, key=lambda family: -FAMILIES[family][1])
    turn = 0
    while sum(dealt.values()) < cases:
        dealt[heaviest[turn % len(heaviest)]] += 1
        turn += 1
    while sum(dealt.values()) > cases and max(dealt.values()) > FEWEST:
        dealt[max(dealt, key=dealt.get)] -= 1
    return dealt


def deal(seed, cases, families):
    """The cases of a sweep, with families mixed, so that one that ends early has seen all of them."""
    dealt = [make(seed, family, number) for family, count in counts(cases, families).items() for number in range(count)]
    random.Random(seed).shuffle(dealt)
    return dealt
