"""megakittens.compile on a GPU, on a stand-in for the driver: what a call launches and returns, and what is refused."""

import gc
import os
import subprocess
import sys

import pytest
import torch
from stand_in import gpu

import megakittens
from megakittens import _core, compat

__all__ = ["gpu"]


def mlp(x, W, b):
    for i in range(3):
        x = torch.relu(x @ W[i] + b[i])
    return x


def inputs(rows=64, width=64):
    torch.manual_seed(0)
    return (
        torch.randn(rows, width).bfloat16(),
        torch.randn(3, width, width).bfloat16() / 8,
        torch.randn(3, rows, width).bfloat16(),
    )


def close(ours, theirs):
    torch.testing.assert_close(ours.float(), theirs.float(), rtol=2e-2, atol=2e-2)


def test_a_call_is_right_and_one_launch(gpu):
    f = megakittens.compile(mlp)
    close(f(*inputs()), mlp(*inputs()))
    launches, copies = gpu.count("cuLaunchKernelEx"), gpu.count("copies")
    args = inputs()
    f(*args)
    assert gpu.count("cuLaunchKernelEx") == launches + 1
    assert gpu.count("copies") == copies


def test_results_of_earlier_calls_stay_intact_unless_buffers_are_reused(gpu):
    args = inputs()
    f = megakittens.compile(mlp)
    first = f(*args)
    kept = first.clone()
    second = f(args[0] * 2, *args[1:])
    assert torch.equal(first, kept) and not torch.equal(first, second)
    g = megakittens.compile(mlp, reuse_outputs=True)
    assert g(*args).data_ptr() == g(*args).data_ptr()


def test_a_result_in_a_reused_buffer_may_be_the_next_calls_input(gpu):
    f = megakittens.compile(lambda x: torch.tanh(x @ x), reuse_outputs=True)
    x = torch.randn(64, 64).bfloat16()
    y = f(x)
    for _ in range(4):
        want = torch.tanh(y @ y)
        again = f(y)
        close(again, want)
        assert again.data_ptr() == y.data_ptr()
        y = again


def reusing(function=torch.tanh):
    """A compiled function that writes the same memory in every call, its second result, and what it takes."""
    f, x = megakittens.compile(function, reuse_outputs=True), torch.randn(64, 64)
    with torch.no_grad():
        f(x)
        return f, f(x), x


@pytest.mark.parametrize("spoil", [
    lambda y: setattr(y, "data", y.data[:1].clone()),
    lambda y: y.unsqueeze_(0),
    lambda y: y.untyped_storage().resize_(0),
    lambda y: y.add_(torch.ones(64, 64, requires_grad=True)),
], ids=["data", "shape", "storage", "history"])  # fmt: skip
def test_what_becomes_of_a_reused_result_is_not_the_next_calls(gpu, spoil):
    f, y, x = reusing()
    spoil(y)
    with torch.no_grad():
        for _ in range(2):
            again = f(2 * x)
            close(again, torch.tanh(2 * x))
            assert again.shape == x.shape and not again.requires_grad
    assert not gpu.report()


def test_autograd_is_told_that_a_reused_result_was_overwritten(gpu):
    f, y, x = reusing()
    w = torch.ones(64, 64, requires_grad=True)
    loss = (y * w).sum()
    with torch.no_grad():
        f(2 * x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_reused_results_of_inference_mode_are_overwritten_without_harm(gpu):
    f, x = megakittens.compile(torch.tanh, reuse_outputs=True), torch.randn(64, 64)
    with torch.inference_mode():
        addresses = [f(x).data_ptr() for _ in range(3)]
        close(f(2 * x), torch.tanh(2 * x))
    assert len(set(addresses)) == 1


def test_what_a_captured_graph_writes_is_no_later_calls(gpu, monkeypatch):
    f, y, x = reusing()
    with torch.no_grad():
        monkeypatch.setattr(compat, "capturing", lambda: True)
        captured = f(x)
        monkeypatch.setattr(compat, "capturing", lambda: False)
        assert captured.data_ptr() != y.data_ptr() and f(x).data_ptr() == y.data_ptr()


def test_the_memory_of_a_program_that_ended_in_a_capture_comes_back_with_the_next_chance(gpu, monkeypatch):
    f, g, x = megakittens.compile(torch.tanh), megakittens.compile(torch.exp), torch.randn(64, 64)
    with torch.no_grad():
        f(x)
        gc.collect()
        before = gpu.count("bytes")
        g(x)
        monkeypatch.setattr(compat, "capturing", lambda: True)
        del g
        gc.collect()
        assert gpu.count("bytes") > before
        f.synchronize()
        assert gpu.count("bytes") > before
        monkeypatch.setattr(compat, "capturing", lambda: False)
        f.synchronize()
        assert gpu.count("bytes") == before


AT_THE_END = """
import torch
import megakittens
from megakittens import compat

compat.device_kind, compat.device_index, compat.current_stream = lambda device: "cuda", lambda device: 0, lambda index: 0
f = megakittens.compile(torch.nn.Linear(16, 16).requires_grad_(False))
print(f(torch.ones(4, 16)).shape)
"""


def test_a_process_ends_without_a_word_whose_compiled_module_lives_to_its_end(gpu):
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END], env={**os.environ, "PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "torch.Size([4, 16])\n", "")


def test_weights_of_a_module_are_bound_and_new_ones_are_noticed(gpu):
    module = torch.nn.Linear(64, 64, bias=False).bfloat16().requires_grad_(False)
    x = torch.randn(32, 64).bfloat16()
    f = megakittens.compile(module)
    close(f(x), module(x))
    copies = gpu.count("copies")
    f(x)
    assert gpu.count("copies") == copies
    module.weight.mul_(2)
    close(f(x), module(x))
    assert gpu.count("copies") == copies
    module.weight = torch.nn.Parameter(torch.randn(64, 64).bfloat16(), requires_grad=False)
    close(f(x), module(x))


def test_an_input_is_written_in_place(gpu):
    def f(x, y):
        x.add_(y)
        return x * 2

    ours, theirs = torch.ones(64, 64).bfloat16(), torch.ones(64, 64).bfloat16()
    y = torch.randn(64, 64).bfloat16()
    close(megakittens.compile(f)(ours, y), f(theirs, y))
    close(ours, theirs)


def test_misaligned_inputs_are_copied_and_written_back(gpu):
    def f(x):
        x.mul_(3)
        return x + 1

    ours = torch.arange(257, dtype=torch.float32)
    theirs = ours.clone()
    close(megakittens.compile(f)(ours[1:]), f(theirs[1:]))
    close(ours, theirs)


def test_sizes_of_zero_and_several_outputs_are_right(gpu):
    f = megakittens.compile(lambda x: (x + 1, {"a": x * 2}))
    for shape in [(0, 8), (16, 64)]:
        x = torch.randn(shape)
        one, two = f(x)
        close(one, x + 1)
        close(two["a"], x * 2)


def test_a_second_model_compiles_nothing(gpu):
    args = inputs()
    megakittens.compile(mlp)(*args)
    before = _core.compilation_count()
    megakittens.compile(lambda x: torch.nn.functional.gelu(x) * 2)(args[0])
    megakittens.compile(mlp)(*inputs(32, 128))
    assert _core.compilation_count() == before


def test_the_first_call_of_a_shape_inside_a_capture_is_refused_before_anything_is_compiled(gpu, monkeypatch):
    f = megakittens.compile(mlp)

    def dynamo_compiles(*_):
        raise AssertionError("Dynamo asks for the state of random numbers, which spoils a capture")

    def refused(*args):
        with pytest.raises(megakittens.UserError, match="call it once before the capture"), monkeypatch.context() as patch:
            patch.setattr(compat, "capturing", lambda: True)
            patch.setattr(torch.random, "get_rng_state", dynamo_compiles)
            f(*args)

    refused(*inputs())
    close(f(*inputs()), mlp(*inputs()))
    refused(*inputs(32, 128))
    close(f(*inputs(32, 128)), mlp(*inputs(32, 128)))


def test_calls_that_are_known_may_be_captured_whichever_way_they_take(gpu, monkeypatch):
    def g(x):
        return x + 1, x.t()

    f, x = megakittens.compile(g), torch.ones(8, 16)
    f(x)
    monkeypatch.setattr(compat, "capturing", lambda: True)
    close(f(x)[0], x + 1)
    assert gpu.fast_calls == 0


def test_close_gives_the_memory_back_and_later_calls_say_so(gpu):
    f = megakittens.compile(mlp)
    f(*inputs())
    gc.collect()
    held = gpu.count("bytes")
    assert f.workspace_bytes > 0
    f.close()
    assert gpu.count("bytes") < held
    assert f.workspace_bytes == 0
    with pytest.raises(megakittens.UserError, match="was closed"):
        f(*inputs())


def test_out_of_memory_is_tried_again_after_pytorch_gave_back_what_it_holds(gpu, monkeypatch):
    f = megakittens.compile(mlp)
    held = gpu.count("bytes")
    gpu.set("memory", held + 1000)
    with pytest.raises(megakittens.CapacityError, match="the GPU is out of memory: .* bytes"):
        f(*inputs())
    emptied = []

    def empty_cache():
        emptied.append(1)
        gpu.set("memory", 1 << 34)

    monkeypatch.setattr(compat, "empty_cache", empty_cache)
    close(f(*inputs()), mlp(*inputs()))
    assert emptied


def test_device_cuda_wants_tensors_there():
    with pytest.raises(megakittens.UserError, match=r"device='cuda' runs tensors on 'cuda'; these are on 'cpu'"):
        megakittens.compile(mlp, device="cuda")(*inputs())


def test_explain_and_save_show_the_program(gpu, tmp_path):
    f = megakittens.compile(mlp)
    f(*inputs())
    text = f.explain()
    assert "graph mlp" in text and "instructions" in text and "gemm" in text
    f.save(str(tmp_path / "mlp.mkp"))
    assert (tmp_path / "mlp.mkp").stat().st_size > 1000


def test_after_a_launch_gave_up_its_results_are_nan_and_the_next_call_is_right(gpu):
    args = inputs()
    f = megakittens.compile(mlp)
    good = f(*args)
    kept = good.clone()
    f.executables[0].engine.native.plant_fault()
    bad = f(*args)
    with pytest.raises(megakittens.ExecutionError, match=r"gave up on GPU 0: \w+ \(warp \d+\) of CTA \d+ on SM \d+, instruction \d+ of node '.*' waited too long for .*: it is \d+, needs \d+"):
        f.synchronize()
    assert bad.isnan().all()
    assert torch.equal(good, kept)
    close(f(*args), mlp(*args))


def test_nothing_ends_during_a_capture_which_that_would_break(gpu, monkeypatch):
    args = inputs()
    first = megakittens.compile(mlp)
    first(*args)
    before = gpu.count("cuCtxSynchronize")
    monkeypatch.setattr(compat, "capturing", lambda: True)
    with pytest.raises(megakittens.UserError, match="end the capture first"):
        first.close()
    close(first(*args), mlp(*args))
    del first
    gc.collect()
    assert gpu.count("cuCtxSynchronize") == before
    monkeypatch.setattr(compat, "capturing", lambda: False)
    megakittens.compile(mlp)(*args)
    assert gpu.count("cuCtxSynchronize") > before


def test_a_launch_that_gave_up_is_told_at_the_next_call(gpu):
    args = inputs()
    f = megakittens.compile(mlp)
    f(*args)
    f.executables[0].engine.native.plant_fault()
    bad = f(*args)
    with pytest.raises(megakittens.ExecutionError, match="Results of the calls since then are worthless"):
        f(*args)
    assert bad.isnan().all()
    close(f(*args), mlp(*args))


def test_results_that_show_part_of_an_output_are_nan_too(gpu):
    def shown_twice(x):
        y = torch.relu(x @ x) @ x
        return y, y[2:]

    x = torch.randn(64, 64).bfloat16()
    f = megakittens.compile(shown_twice)
    f(x)
    engine = f.executables[0].engine
    assert not all(output.whole for output in engine.outputs)
    engine.native.plant_fault()
    bad = f(x)
    with pytest.raises(megakittens.ExecutionError):
        f.synchronize()
    assert all(result.isnan().all() for result in bad)


def test_results_are_nan_before_anybody_asks_whatever_shows_them(gpu):
    args = inputs()
    f = megakittens.compile(mlp)
    f(*args)
    f.executables[0].engine.native.plant_fault()
    shown = f(*args).detach()[1:]
    assert shown.isnan().all()
    with pytest.raises(megakittens.ExecutionError):
        f.synchronize()


@pytest.mark.parametrize("kept_bytes", [0, 64])
@pytest.mark.parametrize("which", ["read", "written", "weight"])
def test_a_tensor_whose_storage_was_freed_or_shortened_is_refused(gpu, which, kept_bytes):
    def change(x, y):
        y.mul_(2)
        return x + y

    module = torch.nn.Linear(64, 64, bias=False, dtype=torch.bfloat16).requires_grad_(False)
    x, y = torch.randn(8, 64).bfloat16(), torch.randn(8, 64).bfloat16()
    f = megakittens.compile(module if which == "weight" else change)
    call = (lambda: f(x)) if which == "weight" else (lambda: f(x, y))
    for _ in range(3):
        call()
    launches = gpu.count("cuLaunchKernelEx")
    tensor = {"read": x, "written": y, "weight": module.weight}[which]
    tensor.untyped_storage().resize_(kept_bytes)
    with pytest.raises(megakittens.UserError, match=f"bytes into its storage, which has {kept_bytes}"):
        call()
    assert gpu.count("cuLaunchKernelEx") == launches


def test_the_inputs_device_decides_which_of_several_gpus_runs(gpu, monkeypatch):
    gpu.set("devices", 2)
    before = gpu.count("cuDevicePrimaryCtxRetain")
    first, second = megakittens.compile(mlp), megakittens.compile(mlp)
    close(first(*inputs()), mlp(*inputs()))
    monkeypatch.setattr(compat, "device_index", lambda device: 1)
    close(second(*inputs()), mlp(*inputs()))
    close(second(*inputs()), mlp(*inputs()))
    close(first(*inputs()), mlp(*inputs()))
    assert gpu.count("cuDevicePrimaryCtxRetain") <= before + 2
    for f, number in ((first, 0), (second, 1)):
        f.executables[0].engine.native.plant_fault()
        f(*inputs())
        with pytest.raises(megakittens.ExecutionError, match=f"gave up on GPU {number}"):
            f.synchronize()
    monkeypatch.setattr(compat, "device_index", lambda device: 2)
    with pytest.raises(megakittens.UserError, match="there is no GPU 2: the driver shows 2"):
        megakittens.compile(mlp)(*inputs(32, 64))
