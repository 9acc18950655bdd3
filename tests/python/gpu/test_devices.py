"""Which GPU a call runs on. On a machine with one GPU the first and the last are the same."""

import itertools
import threading

import pytest
import torch
from models import close, inputs, mlp

import megakittens

LAST = torch.cuda.device_count() - 1


def inputs_on(device, seed):
    return [tensor.to(f"cuda:{device}") for tensor in inputs(256, 256, seed=seed)]


@pytest.mark.parametrize("current", [0, LAST])
def test_a_call_runs_where_its_inputs_are(current):
    f = megakittens.compile(mlp)
    sets = [(device, inputs_on(device, seed)) for seed, device in itertools.product(range(2), (0, LAST))]
    with torch.no_grad(), torch.cuda.device(current):
        for device, args in [*sets, *reversed(sets)]:
            y = f(*args)
            f.synchronize()
            assert y.device == torch.device("cuda", device)
            assert torch.cuda.current_device() == current
            close(y, mlp(*args))


def test_threads_on_their_own_gpus():
    f = megakittens.compile(mlp)
    sets = [inputs_on(device, seed) for seed, device in enumerate((0, LAST, 0, LAST))]
    wrong = []

    def work(args):
        try:
            with torch.no_grad(), torch.cuda.device(args[0].device), torch.cuda.stream(torch.cuda.Stream()):
                first = f(*args)
                others = sum((f(*args) != first).any().long() for _ in range(100))
                torch.cuda.current_stream().synchronize()
                close(first, mlp(*args))
                assert others.item() == 0, "launches whose results are not the first's"
        except Exception as error:
            wrong.append(error)

    with torch.no_grad():
        for args in sets:
            f(*args)  # compiles, before there are threads
    for device in {0, LAST}:
        torch.cuda.synchronize(device)
    threads = [threading.Thread(target=work, args=(args,)) for args in sets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_graph_of_the_last_gpu_replays_while_the_first_is_called():
    f = megakittens.compile(mlp)
    first, last = inputs_on(0, 1), inputs_on(LAST, 2)
    with torch.no_grad():
        f(*first)
        f(*last)
        with torch.cuda.device(LAST):
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            # Its own stream: the one that PyTorch captures on otherwise is of the GPU that a process captured on first.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
                captured = f(*last)
        replayed = torch.zeros((), dtype=torch.int64, device=captured.device)
        called = torch.zeros((), dtype=torch.int64, device="cuda:0")
        want_replayed, want_called = f(*last), f(*first)
        for _ in range(50):
            with torch.cuda.device(LAST):
                captured.fill_(float("nan"))
                graph.replay()
                replayed += (captured != want_replayed).any()
            called += (f(*first) != want_called).any()
        for device in {0, LAST}:
            torch.cuda.synchronize(device)
        assert (replayed.item(), called.item()) == (0, 0), "launches whose results are not the first's"
        close(want_replayed, mlp(*last))
        close(want_called, mlp(*first))
