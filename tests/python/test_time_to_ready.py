"""How long it takes from a captured graph until its first launch is on its way, with the interpreter loaded before; on a
stand-in for the driver, which only counts launches. The best of a few times counts, because the machine may be busy."""

import time

import pytest
import torch
from stand_in import gpu

import megakittens
from megakittens import _core, checks
from megakittens.cuda import CudaEngine

__all__ = ["gpu"]


def mlp(x, W, b):
    for i in range(W.shape[0]):
        x = torch.relu(x @ W[i] + b[i])
    return x


def inputs(rows, width, layers):
    """Nobody reads them, so their memory need not be there."""
    sizes = {"x": (rows, width), "W": (layers, width, width), "b": (layers, rows, width)}
    return {name: torch.empty(size, dtype=torch.bfloat16) for name, size in sizes.items()}


@pytest.mark.parametrize("rows, layers, instructions, limit", [(1024, 3, 1, 0.05), (2048, 80, 10_000, 1)])
def test_a_captured_graph_is_ready_in_time(gpu, capsys, rows, layers, instructions, limit):
    gpu.set("emulate", 0)
    megakittens.compile(lambda x: x + 1)(torch.ones(8, 8))  # loads the interpreter
    args = inputs(rows, 1024, layers)
    graph = megakittens.capture(mlp, **args)
    given = [args[item["name"]] for item in graph.inputs]
    compilations, seconds = _core.compilation_count(), []
    for _ in range(5):
        start = time.perf_counter()
        engine = CudaEngine(graph, checks.settings(), given[0].device)
        launches = gpu.count("cuLaunchKernelEx")
        engine.run(given)
        seconds.append(time.perf_counter() - start)
        assert gpu.count("cuLaunchKernelEx") == launches + 1
        engine.close()
    count = engine.program.summary["instructions"]
    with capsys.disabled():
        print(f"\n[ready] {layers} layers, {count} instructions: {min(seconds) * 1e3:.1f} ms from the captured graph to the first launch")
    assert count >= instructions
    assert _core.compilation_count() == compilations
    assert min(seconds) < limit
