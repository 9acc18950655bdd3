"""What is promised of an H200, held against recorded results: docs/performance.md shows it, `make gpu-bench` fails over it.

max-autotune is no graph to promise anything by: what it chose for one workload took from 19.9 to 28.6 us in ten runs.
"""

OURS = "megakittens"


def by_calls(result):
    """Our time as called, by that of the best torch.compile call."""
    times = result["called_us"]
    return times[OURS] / min(time for name, time in times.items() if name.startswith("torch.compile"))


def by_graph(name):
    """Our time per replay, by that of a graph of `name`."""
    return lambda result: result["replayed_us"][OURS] / result["replayed_us"][name]


def cost(key):
    return lambda result: result["costs_ns"].get(key)


# Workload, or None where it is the interpreter's own cost; what; of a result, the figure; the most it may be.
LIMITS = [
    ("mlp_1024", "as called, by the best torch.compile call", by_calls, 0.4),
    ("mlp_512x1024", "as called, by the best torch.compile call", by_calls, 0.4),
    ("mlp_1024", "per replay, by Inductor's graph", by_graph("torch.compile"), 1.05),
    ("mlp_512x1024", "per replay, by Inductor's graph", by_graph("torch.compile"), 1.05),
    ("products_4096", "per replay, by cuBLAS's three nodes", by_graph("eager"), 1.03),
    ("products_2048", "per replay, by cuBLAS's three nodes", by_graph("eager"), 1.06),
    (None, "a noop, ns", cost("noop"), 300),
    (None, "a launch without instructions, ns", cost("launch"), 2500),
    (None, "a call of 16 tensors on the best core, us", lambda result: result.get("call_16_tensors_us", {}).get("best_core"), 10),
]


def held(results):
    """(workload or None, what, figure, limit) for each limit that the results say something of."""
    found = []
    for workload, what, figure, limit in LIMITS:
        for result in results:
            ours = "costs_ns" in result if workload is None else result.get("workload") == workload
            if ours and "H200" in result["machine"]["device"] and (value := figure(result)) is not None:
                found.append((workload, what, value, limit))
    return found


def missed(results):
    """A sentence for each limit that is not kept."""
    return [
        f"{workload or 'interpreter'}: {what}: {figure:.4g}, may be {limit}"
        for workload, what, figure, limit in held(results)
        if figure > limit
    ]
