"""Random sizes. A fifth of them is a multiple of no tile."""

import math

UNEVEN = 0.2
STEPS = (8, 16, 32, 64, 128, 256)
MOST_FLOP = 2 * 10**12
MOST_BYTES = 10**9


def log_uniform(rng, low, high):
    return min(high, max(low, round(math.exp(rng.uniform(math.log(low), math.log(high))))))


def mixed(rng, low, middle, high):
    """Three in ten below the middle, where calls cost more than the work."""
    return log_uniform(rng, low, middle) if rng.random() < 0.3 else log_uniform(rng, middle, high)


def uneven(rng, low, high):
    """No multiple of 8, so of no tile; odd in half of the cases."""
    size = log_uniform(rng, low, high)
    if rng.random() < 0.5:
        size |= 1
    if size % 8 == 0:
        size += rng.randint(1, 7)
    return size if size <= high else high - 1 if high % 8 == 0 else high


def even(rng, low, high, steps=STEPS):
    """A multiple of one of the steps, or of a smaller power of two where the size is small."""
    size = log_uniform(rng, low, high)
    fitting = [step for step in steps if step <= size] or [2 ** (size.bit_length() - 1)]
    step = rng.choice(fitting)
    rounded = size // step * step
    return rounded if rounded >= low else rounded + step


def side(rng, low, high):
    return uneven(rng, low, high) if rng.random() < UNEVEN else even(rng, low, high)


def until(draw, fits, tries=1000):
    """The first draw that fits."""
    for _ in range(tries):
        value = draw()
        if fits(value):
            return value
    raise RuntimeError(f"none of {tries} draws fits")
