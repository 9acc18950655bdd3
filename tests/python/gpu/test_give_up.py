"""A launch that cannot end gives up: the error names the wait, its results are NaN, and the next call is right."""

import time

import pytest
import torch
from models import close, inputs, mlp

import megakittens


LIMIT_MS = 200
GAVE_UP = r"gave up on GPU 0: \w+ \(warp \d+\) of CTA \d+ on SM \d+, instruction \d+ of node '.*' waited too long for .*: it is \d+, needs \d+"


@pytest.fixture
def compiled(monkeypatch):
    """The MLP, its arguments, and its right result."""
    monkeypatch.setenv("MEGAKITTENS_WAIT_LIMIT_MS", str(LIMIT_MS))
    args = inputs(512, 512)
    f = megakittens.compile(mlp)
    good = f(*args)
    f.synchronize()
    close(good, mlp(*args))
    return f, args, good


def plant_fault(f):
    f.executables[0].engine.native.plant_fault()


def test_after_a_launch_gave_up_its_results_are_nan_and_the_next_call_is_right(compiled):
    f, args, good = compiled
    kept = good.clone()
    plant_fault(f)
    start = time.perf_counter()
    bad = f(*args).detach()
    assert bad.isnan().all()  # before anybody asks
    with pytest.raises(megakittens.ExecutionError, match=GAVE_UP):
        f.synchronize()
    # Waits count clocks, at the highest rate: where the GPU's is lower they last longer.
    assert LIMIT_MS / 1e3 <= time.perf_counter() - start < 5 * LIMIT_MS / 1e3
    assert bad.isnan().all()
    assert torch.equal(good, kept)
    again = f(*args)
    f.synchronize()
    assert torch.equal(again, kept)


def test_the_next_call_tells_what_nobody_asked_for(compiled):
    f, args, good = compiled
    plant_fault(f)
    bad = f(*args)
    torch.cuda.synchronize()
    with pytest.raises(megakittens.ExecutionError, match=GAVE_UP):
        f(*args)
    assert bad.isnan().all()
    assert torch.equal(f(*args), good)


def test_results_are_nan_where_most_of_the_gpu_worked_on(monkeypatch):
    monkeypatch.setenv("MEGAKITTENS_WAIT_LIMIT_MS", "1")

    def work(x, a):
        return torch.relu(x @ x) @ x, *(torch.relu(a + i) for i in range(8))

    x, a = torch.randn(256, 256, device="cuda").bfloat16(), torch.randn(2**14, 2**15, device="cuda").bfloat16()
    f = megakittens.compile(work)
    f(x, a)
    f.synchronize()
    plant_fault(f)
    assert all(result.isnan().all() for result in f(x, a))
    with pytest.raises(megakittens.ExecutionError, match=GAVE_UP):
        f.synchronize()
    good = f(x, a)
    f.synchronize()
    for result, right in zip(good, work(x, a), strict=True):
        close(result, right)


def test_launches_queued_behind_the_one_that_gave_up_are_nan_too_and_those_before_are_not(compiled):
    f, args, good = compiled
    before = [f(*args) for _ in range(100)]
    plant_fault(f)
    behind = [f(*args) for _ in range(100)]
    with pytest.raises(megakittens.ExecutionError, match=GAVE_UP):
        f.synchronize()
    assert all(torch.equal(result, good) for result in before)
    assert all(result.isnan().all() for result in behind)
    assert torch.equal(f(*args), good)
    f.synchronize()


def test_a_captured_graph_that_gave_up_is_nan_and_its_next_replay_is_right_and_so_again(compiled):
    f, args, good = compiled
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        first = f(*args)
        second = f(*args)
    for _ in range(3):
        for result in (first, second):
            result.zero_()
        graph.replay()
        f.synchronize()
        assert torch.equal(first, good) and torch.equal(second, good)
        plant_fault(f)
        for _ in range(2):  # nobody has asked, and yet no result is what another replay has left
            for result in (first, second):
                result.zero_()
            graph.replay()
            assert first.isnan().all() and second.isnan().all()
        with pytest.raises(megakittens.ExecutionError, match=GAVE_UP):
            f.synchronize()


def test_a_capture_behind_a_call_that_gave_up_is_refused_and_everything_is_right_again(compiled):
    f, args, good = compiled
    plant_fault(f)
    f(*args)
    torch.cuda.synchronize()
    with pytest.raises(megakittens.ExecutionError, match="before this capture"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        f(*args)
    with pytest.raises(megakittens.ExecutionError, match=GAVE_UP):
        f.synchronize()
    assert torch.equal(f(*args), good)
