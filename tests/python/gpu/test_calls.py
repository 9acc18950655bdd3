"""megakittens.compile on a real GPU: results, streams, captured graphs, threads, errors, memory."""

import copy
import pathlib
import subprocess
import sys
import threading
import time

import pytest
import torch
from models import close, in_fp32, inputs, mlp

import megakittens
from megakittens import _core, checks, compat_tensors
from megakittens.cuda import CudaEngine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench/gpu"))
import timing  # noqa: E402


def compiled(*args, **options):
    """A compiled mlp that has been called once."""
    f = megakittens.compile(mlp, **options)
    f(*args)
    return f


@pytest.mark.parametrize("rows, width", [(1024, 1024), (512, 1024), (2048, 2048), (64, 128), (100, 264), (1, 8)])
@pytest.mark.parametrize("numerics", ["eager", "fused"])
def test_the_mlp_is_right(rows, width, numerics):
    args = inputs(rows, width)
    close(megakittens.compile(mlp, numerics=numerics)(*args), mlp(*args), reference=in_fp32(mlp, *args))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_other_types_are_right(dtype):
    args = inputs(192, 256, dtype=dtype)
    reference = None if dtype == torch.float32 else in_fp32(mlp, *args)
    close(megakittens.compile(mlp)(*args), mlp(*args), reference=reference)


def test_a_captured_graph_replays_on_another_stream_between_direct_calls():
    x, W, b = inputs(512, 512)
    f = compiled(x, W, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        replayed = [f(x, W, b) for _ in range(3)]
    other = torch.cuda.Stream()
    for i in range(200):
        x.normal_()
        torch.cuda.synchronize()
        with torch.cuda.stream(other):
            graph.replay()
        direct = f(x, W, b)
        torch.cuda.synchronize()
        close(direct, mlp(x, W, b))
        assert all(torch.equal(y, direct) for y in replayed), i


def test_ten_thousand_launches_of_two_programs_on_two_streams():
    sides = []
    for rows, width in ((256, 256), (200, 264)):
        sets = [inputs(rows, width, seed=seed) for seed in range(2)]
        f = compiled(*sets[0])
        first = [f(*args) for args in sets]
        for args, y in zip(sets, first, strict=True):
            close(y, mlp(*args))
        # Sets of inputs take turns, so that what an earlier launch left behind is wrong.
        wrong = torch.zeros((), device="cuda", dtype=torch.int64)
        sides.append((torch.cuda.Stream(), f, sets * 5, torch.stack(first * 5).view(torch.int16), wrong))
    torch.cuda.synchronize()
    for _ in range(500):
        results = [[], []]
        for k in range(10):
            for (stream, f, sets, _, _), mine in zip(sides, results, strict=True):
                with torch.cuda.stream(stream):
                    mine.append(f(*sets[k]))
        for (stream, _, _, want, wrong), mine in zip(sides, results, strict=True):
            with torch.cuda.stream(stream):
                wrong += (torch.stack(mine).view(torch.int16) != want).flatten(1).any(1).sum()
                torch._foreach_mul_(mine, float("nan"))  # the next results lie where these did
    for _, f, *_ in sides:
        f.synchronize()
    assert [wrong.item() for *_, wrong in sides] == [0, 0], "launches whose bits are not the first's, by program"


def test_threads_with_streams_of_their_own():
    args = [inputs(256, 256, seed=seed) for seed in range(4)]
    f = compiled(*args[0])
    wrong = []

    def work(mine):
        with torch.cuda.stream(torch.cuda.Stream()):
            first = f(*mine)
            others = sum((f(*mine) != first).any().long() for _ in range(200))
            torch.cuda.current_stream().synchronize()
            try:
                close(first, mlp(*mine))
                assert others.item() == 0, "launches whose results are not the first's"
            except AssertionError as error:
                wrong.append(error)

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work, args=(mine,)) for mine in args]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_of_earlier_calls_stay_intact():
    x, W, b = inputs(512, 512)
    f = compiled(x, W, b)
    first = f(x, W, b)
    kept = first.clone()
    for _ in range(10):
        f(torch.randn_like(x), W, b)
    assert torch.equal(first, kept)


def test_reused_outputs_are_the_same_tensor():
    args = inputs(256, 256)
    f = compiled(*args, reuse_outputs=True)
    assert f(*args).data_ptr() == f(*args).data_ptr()
    close(f(*args), mlp(*args))


def test_inputs_are_written_in_place():
    def step(cache, x):
        cache.add_(x)
        return cache * 2

    x = torch.randn(256, 384, device="cuda").bfloat16()
    ours, theirs = torch.zeros_like(x), torch.zeros_like(x)
    f = megakittens.compile(step)
    for _ in range(4):
        close(f(ours, x), step(theirs, x))
    close(ours, theirs)


def test_misaligned_inputs_are_right():
    base = torch.randn(1 + 256 * 256, device="cuda").bfloat16()
    x = base[1:].view(256, 256)
    w = torch.randn(256, 256, device="cuda").bfloat16() / 16

    def f(x, w):
        return torch.relu(x @ w)

    close(megakittens.compile(f)(x, w), f(x, w), reference=in_fp32(f, x, w))


def test_many_layers_and_few_use_one_kernel_and_compile_nothing():
    few = inputs(512, 512)
    compiled(*few)
    before = _core.compilation_count()
    many = inputs(512, 512, layers=64)
    start = time.perf_counter()
    f = megakittens.compile(mlp)
    y = f(*many)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    assert _core.compilation_count() == before
    close(y, mlp(*many), factor=8, reference=in_fp32(mlp, *many))
    assert seconds < 10, f"{seconds:.1f} s from compile() to the first result"


@pytest.mark.parametrize("rows, layers, instructions, limit", [(1024, 3, 1, 0.05), (2048, 80, 10_000, 1)])
def test_a_captured_graph_is_ready_in_time(capsys, rows, layers, instructions, limit):
    compiled(*inputs(256, 256))  # loads the interpreter
    args = dict(zip(("x", "W", "b"), inputs(rows, 1024, layers), strict=True))
    graph = megakittens.capture(mlp, **args)
    given = [args[item["name"]] for item in graph.inputs]
    torch.cuda.synchronize()
    compilations, seconds = _core.compilation_count(), []
    for _ in range(5):
        start = time.perf_counter()
        engine = CudaEngine(graph, checks.settings(), given[0].device)
        (y,) = engine.run(given)
        seconds.append(time.perf_counter() - start)
        engine.synchronize()
        engine.close()
    close(y, mlp(**args), factor=8)
    count, shown = engine.program.summary["instructions"], ", ".join(f"{second * 1e3:.1f}" for second in seconds)
    with capsys.disabled():
        print(f"\n[ready] {layers} layers, {count} instructions: {shown} ms from the captured graph to the first launch")
    assert count >= instructions
    assert _core.compilation_count() == compilations
    assert max(seconds) < limit


def test_a_module_with_weights_and_new_weights():
    module = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda().bfloat16().requires_grad_(False)
    x = torch.randn(128, 256, device="cuda").bfloat16()
    f = megakittens.compile(module)
    close(f(x), module(x), reference=copy.deepcopy(module).float()(x.float()))
    for parameter in module.parameters():
        parameter.data = torch.randn_like(parameter) / 16
    close(f(x), module(x), reference=copy.deepcopy(module).float()(x.float()))


def test_a_module_that_was_moved_is_told_and_works_again_when_it_is_back():
    module = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
    x = torch.randn(32, 64, device="cuda")
    f = megakittens.compile(module)
    close(f(x), module(x))
    module.cpu()
    for _ in range(2):
        with pytest.raises(megakittens.Error, match="is on 'cpu' now|tensors on 2 devices"):
            f(x)
    module.cuda()
    close(f(x), module(x))


def test_constants_of_the_function_are_read_on_the_gpu():
    def masked(x):
        return torch.where(x > 0, x, torch.tensor(float("-inf")))

    x = torch.randn(64, 64, device="cuda")
    f = megakittens.compile(masked)
    for _ in range(3):
        assert torch.equal(f(x), masked(x))


def test_results_are_where_the_inputs_are_or_refused():
    x = torch.randn(64, 64, device="cuda")
    with pytest.raises(megakittens.UnsupportedError, match="is on 'cpu', and the function runs on 'cuda:0'"):
        megakittens.compile(lambda x: (x + 1, torch.zeros(3)))(x)
    made = megakittens.compile(lambda: torch.full((4, 4), 2.0, device="cuda") + 1)()
    assert torch.equal(made, torch.full((4, 4), 3.0, device="cuda"))


def test_close_returns_the_memory_and_a_later_call_says_so():
    args = inputs(8192, 1024)  # two tensors of 16 MiB between the nodes
    f = compiled(*args)
    assert f.workspace_bytes >= 32 << 20
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    f.close()
    assert torch.cuda.mem_get_info()[0] - before >= 32 << 20
    assert f.workspace_bytes == 0
    with pytest.raises(megakittens.UserError, match="closed"):
        f(*args)


def test_the_first_call_inside_a_capture_is_refused_and_does_no_harm():
    args, others = inputs(256, 256), inputs(128, 256)
    f = megakittens.compile(mlp)
    for mine in (args, others):  # the second shape of a function that was called before, too
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with pytest.raises(megakittens.UserError, match="before the capture"), torch.cuda.graph(graph):
            f(*mine)
        assert torch.rand(4, device="cuda").isfinite().all()
        close(f(*mine), mlp(*mine))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = f(*args)
    graph.replay()
    close(y, mlp(*args))


def test_tensors_on_a_gpu_are_read_where_pytorch_keeps_their_fields():
    numbers, device, keys = compat_tensors.kinds([torch.bfloat16, torch.bool], torch.device("cuda", torch.cuda.current_device()))
    assert device == (1, torch.cuda.current_device())
    whole = torch.zeros(8, 24, device="cuda", dtype=torch.bfloat16)
    for tensor in (whole, whole[2:, 8:], whole.t(), torch.nn.Parameter(whole), torch.empty(0, 3, device="cuda"), whole > 0):
        assert compat_tensors._as_told(tensor)
        found = compat_tensors.fields(tensor)
        assert found["plain"] and found["keys"] in keys and numbers.get(tensor.dtype, 6) == found["dtype"]
    assert not compat_tensors.fields(torch._lazy_clone(whole))["plain"]


def test_what_a_call_of_sixteen_tensors_costs_the_host(capsys):
    cores = timing.call_of_sixteen().values()
    with capsys.disabled():
        print(f"\n[call] 16 tensors: {min(cores):.1f} to {max(cores):.1f} us on {len(cores)} cores of the host, launch included")
    assert min(cores) < 10


def test_torch_compile_takes_the_backend():
    args = inputs(256, 256)
    f = torch.compile(mlp, backend="megakittens", fullgraph=True)
    close(f(*args), mlp(*args))


@pytest.mark.parametrize("other", ["cpu", *(f"cuda:{i}" for i in range(1, torch.cuda.device_count()))])
def test_tensors_on_two_devices_are_refused(other):
    x, W, b = inputs(64, 64)
    f = megakittens.compile(mlp)
    for _ in range(2):  # after a call that was right, too
        with pytest.raises(megakittens.UnsupportedError, match=f"tensors on 2 devices: 'x' on cuda:0, 'b' on {other}"):
            f(x, W, b.to(other))
        close(f(x, W, b), mlp(x, W, b))


def test_a_fresh_process_is_ready_in_seconds():
    code = (
        "import time; start = time.perf_counter()\n"
        "import torch, megakittens\n"
        "x = torch.randn(256, 256, device='cuda').bfloat16(); torch.cuda.synchronize()\n"
        "ready = time.perf_counter()\n"
        "y = megakittens.compile(lambda x: torch.relu(x @ x))(x); torch.cuda.synchronize()\n"
        "print('seconds', time.perf_counter() - ready, 'compiled', megakittens._core.compilation_count())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    words = done.stdout.split()
    assert words[3] == "0", done.stdout
    assert float(words[1]) < 20, done.stdout
