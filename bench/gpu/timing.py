"""Two honest ways to time: as called from Python, and per replay of a CUDA graph that holds many calls. Competitors take
turns in one process, so that the clock's moods hit all of them; figures are medians."""

import collections
import math
import os
import statistics
import time

import torch

import megakittens

CALLS = 20  # in one graph, and between two looks at the clock


def called(competitors, sets, rounds):
    """{name: microseconds a call}: CALLS calls behind each other, from the first to the end of the last's work."""
    times = {name: [] for name in competitors}
    for name, function in competitors.items():
        for _ in range(3):
            function(*sets[0])
    for _ in range(rounds):
        for name, function in competitors.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for i in range(CALLS):
                function(*sets[i % len(sets)])
            torch.cuda.synchronize()
            times[name].append((time.perf_counter() - start) / CALLS * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def host(competitors, sets, rounds):
    """{name: microseconds} until the call returns, with the GPU idle before: what it costs the host."""
    times = {name: [] for name in competitors}
    for _ in range(rounds):
        for name, function in competitors.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            function(*sets[0])
            times[name].append((time.perf_counter() - start) * 1e6)
    torch.cuda.synchronize()
    return {name: statistics.median(values) for name, values in times.items()}


def on_cores(most=16):
    """Puts this thread on one core after the other, at most so many."""
    usual = os.sched_getaffinity(0)
    try:
        for core in sorted(usual)[:: math.ceil(len(usual) / most)]:
            os.sched_setaffinity(0, {core})
            yield core
    finally:
        os.sched_setaffinity(0, usual)


def call_of_sixteen(rounds=20):
    """Microseconds on the host, launch included, that a call of ours with 16 tensors costs behind others: for each core the
    best round's. On a shared machine plain Python was seen to take twice as long on some cores as on others."""
    def sixteen(*tensors):
        total = tensors[0]
        for tensor in tensors[1:]:
            total = total + tensor
        return total

    tensors = [torch.randn(128, 128, device="cuda") for _ in range(16)]
    function = megakittens.compile(sixteen)
    best = collections.defaultdict(lambda: math.inf)
    with torch.no_grad():
        function(*tensors)
        for core in on_cores():
            for _ in range(rounds):
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(CALLS):
                    function(*tensors)
                best[core] = min(best[core], (time.perf_counter() - start) / CALLS * 1e6)
    function.synchronize()
    torch.testing.assert_close(function(*tensors), sixteen(*tensors))
    return dict(best)


def capture(function, sets, calls=CALLS):
    """A graph of so many calls, over the sets in turn; and the last call's result."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for inputs in sets:
            function(*inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            result = function(*sets[i % len(sets)])
    return graph, result


def replayed(graphs, rounds, calls=None, watch=None):
    """{name: microseconds a call} of graphs that hold CALLS calls each, or `calls` by name. `watch(name)` is called while one
    runs."""
    times = {name: [] for name in graphs}
    for graph in graphs.values():
        graph.replay()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(rounds):
        for name, graph in graphs.items():
            torch.cuda.synchronize()
            start.record()
            graph.replay()
            end.record()
            if watch is not None:
                watch(name)
            end.synchronize()
            times[name].append(start.elapsed_time(end) / (calls[name] if calls else CALLS) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def sets_beyond_cache(workload, cache_bytes):
    """So many sets of inputs that none is still in the cache when its turn comes again."""
    count = max(1, -(-2 * cache_bytes // workload.bytes))
    return [workload.inputs(seed) for seed in range(min(count, CALLS))]
