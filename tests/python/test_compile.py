"""megakittens.compile, with the reference as its engine: what a call promises, wherever it runs."""

import math
import logging
import signal
import time

import numpy
import pytest
import torch

import megakittens


def compiled(function=None, **options):
    return megakittens.compile(function, device="reference", **options)


def test_a_decorated_function_gives_eagers_result():
    @compiled()
    def f(x, y):
        return torch.relu(x @ y)

    x, y = torch.randn(4, 8), torch.randn(8, 4)
    torch.testing.assert_close(f(x, y), torch.relu(x @ y))
    assert f.__name__ == "f"


def test_a_module_gives_eagers_result_and_sees_new_weights():
    module = torch.nn.Linear(8, 4)
    fast = compiled(module)
    x = torch.randn(2, 8)
    with torch.no_grad():
        torch.testing.assert_close(fast(x), module(x))
        module.weight.mul_(2)
        torch.testing.assert_close(fast(x), module(x))
        module.weight = torch.nn.Parameter(torch.zeros(4, 8))
        torch.testing.assert_close(fast(x), module(x))
    assert fast.in_features == 8


def test_results_of_an_earlier_call_stay_intact():
    f = compiled(lambda x: x * 2)
    first = f(torch.ones(4))
    second = f(torch.full((4,), 5.0))
    assert first.tolist() == [2] * 4
    assert second.tolist() == [10] * 4


def test_nested_results_keep_their_form():
    f = compiled(lambda xs, scale: {"a": [xs[0] * scale, None], "b": (xs[1], 3)})
    result = f([torch.ones(2), torch.zeros(2)], scale=2)
    assert result["a"][0].tolist() == [2, 2]
    assert result["a"][1] is None
    assert result["b"][1] == 3


def test_a_result_that_is_a_view_of_an_input_is_that_input():
    x = torch.zeros(4, 4)
    result = compiled(lambda x: x.t()[1])(x)
    x[2, 1] = 7
    assert result[2] == 7


@pytest.mark.parametrize("shape", [(0, 4), (3, 0)])
def test_sizes_of_zero_are_right(shape):
    f = compiled(lambda x, w: torch.relu(x @ w) + 1)
    x, w = torch.ones(shape), torch.ones(shape[1], 5)
    torch.testing.assert_close(f(x, w), torch.relu(x @ w) + 1)


def test_inputs_that_share_memory_are_right_where_none_is_written():
    whole = torch.arange(20.0).view(5, 4)
    f = compiled(lambda a, b: a * 2 + b)
    for start in range(3):  # where they overlap is another place in each call
        torch.testing.assert_close(f(whole[:2], whole[start : start + 2]), whole[:2] * 2 + whole[start : start + 2])


def rows(cache, row, value):
    row.copy_(value)
    return cache * 2


@pytest.mark.parametrize(
    "function", [rows, lambda a, b, c: (a.add_(1), a * b), lambda a, b, c: (b.add_(1), a.mul_(2)), lambda a, b, c: b.add_(1) * a[1]]
)
def test_inputs_that_share_memory_of_which_one_is_written_are_refused(function):
    whole = torch.zeros(3, 4)
    with pytest.raises(megakittens.UnsupportedError, match="share memory, and one of them is written.*Pass a .clone"):
        compiled(function)(whole, whole[1], torch.ones(4))
    assert not whole.any()


def write_strided(x):
    x.as_strided((2,), (1,), 4).fill_(-1.0)
    return x * 1


@pytest.mark.parametrize("function", [lambda x: x.as_strided((2,), (1,), 4) * 1, write_strided])
def test_an_offset_into_the_storage_of_an_argument_is_refused(function):
    f = compiled(function)
    with pytest.raises(megakittens.UnsupportedError, match="a storage_offset counts from where the storage of an argument begins"):
        f(torch.arange(20.0)[:12])


def test_a_view_with_strides_begins_where_its_argument_does():
    whole, f = torch.arange(20.0), compiled(lambda x: x.as_strided((2, 2), (3, 1)) * 1)
    for start in range(3):
        assert torch.equal(f(whole[start : start + 12]), whole[start : start + 12].as_strided((2, 2), (3, 1)))


def test_scalars_are_written_and_read_in_order():
    def step(count, weight, gradient):
        count.add_(1)
        weight.sub_(gradient / count)
        count.mul_(2)
        return weight * count

    ours, theirs = ([torch.tensor(value) for value in (0.0, 0.0, 1.0)] for _ in range(2))
    f = megakittens.compile(step, check=True)
    for _ in range(3):
        assert torch.equal(f(*ours), step(*theirs)) and ours == theirs


def test_a_tensor_as_exponent_is_none_of_the_numbers_that_have_a_way_of_their_own():
    x = torch.tensor([-math.inf, -0.0, 4.0])
    for exponent in (0.5, -0.5):
        f = compiled(lambda x, e=exponent: torch.pow(x, torch.full_like(x, e)))
        assert torch.equal(f(x), torch.pow(x, torch.full_like(x, exponent)))


def test_one_tensor_given_twice_is_right():
    def f(a, b):
        a.mul_(3)
        return a + b

    ours, theirs = torch.ones(4), torch.ones(4)
    torch.testing.assert_close(compiled(f)(ours, ours), f(theirs, theirs))
    torch.testing.assert_close(ours, theirs)


def test_inputs_that_come_to_share_memory_later_are_right_or_refused():
    def f(a, b):
        a.add_(1)
        return b * 2

    fast = compiled(f)
    fast(torch.zeros(4), torch.zeros(4))
    ours, theirs = torch.arange(6.0), torch.arange(6.0)
    try:
        result = fast(ours[:4], ours[2:])
    except megakittens.UserError as error:
        assert "overlaps that of" in str(error)
    else:
        torch.testing.assert_close(result, f(theirs[:4], theirs[2:]))


def test_a_new_shape_is_captured_anew_quietly_and_logged(caplog):
    f = compiled(lambda x: x * 2)
    with caplog.at_level(logging.INFO, logger="megakittens"):
        for n in range(1, 20):
            torch.testing.assert_close(f(torch.ones(n)), torch.full((n,), 2.0))
    assert len(f.graphs) == 19
    assert sum("captured" in record.message for record in caplog.records) == 19


def test_a_dry_run_stops_after_capture_and_gives_pytorchs_result():
    f = megakittens.compile(lambda x: torch.cumsum(x, 0), dry_run=True)
    assert f(torch.ones(3)).tolist() == [1, 2, 3]
    assert len(f.graphs) == 1


def test_enable_false_gives_the_function_back():
    def f(x):
        return x

    assert megakittens.compile(f, enable=False) is f


def test_verbose_prints_the_graph(capsys):
    compiled(lambda x: x * 2, verbose=True)(torch.ones(3))
    assert "graph <lambda>: 1 input, 1 node, 1 output" in capsys.readouterr().out


def test_torch_compile_finds_the_backend_and_takes_modes_and_options():
    x = torch.randn(4)
    f = torch.compile(lambda x: x * 2, backend="megakittens", fullgraph=True, options={"device": "reference"})
    torch.testing.assert_close(f(x), x * 2)
    g = torch.compile(lambda x: x * 3, backend="megakittens", options={"dry_run": True})
    torch.testing.assert_close(g(x), x * 3)


def test_bfloat16_rounds_after_each_operation_as_eager_does():
    def f(x, y):
        return (x * y + x) * 0.3

    x, y = torch.randn(2, 64).bfloat16()
    assert torch.equal(compiled(f)(x, y), f(x, y))


@pytest.mark.parametrize("device", ["emulator", "reference"])
def test_after_close_no_call_is_made_whatever_its_shape(device):
    f = megakittens.compile(lambda x: x + 1, device=device)
    f(torch.ones(4))
    f.close()
    for size in (4, 5):
        with pytest.raises(megakittens.UserError, match="'<lambda>' was closed"):
            f(torch.ones(size))
    f.synchronize()
    f.close()


def test_close_before_the_first_call_counts():
    f = compiled(lambda x: x + 1)
    f.close()
    with pytest.raises(megakittens.UserError, match="was closed"):
        f(torch.ones(4))


@pytest.mark.parametrize("device", ["emulator", "reference"])
def test_another_default_device_or_fake_tensors_do_not_reach_a_calls_results(device):
    x = torch.randn(8, 8)
    f = megakittens.compile(lambda x: x + 1, device=device)
    f(x)
    results = []
    with torch.device("meta"):
        results.append(f(x))
    with torch._subclasses.FakeTensorMode():
        results.append(f(x))
    torch.set_default_device("meta")
    try:
        results += [f(x), megakittens.compile(lambda x: x + 1, device=device)(x)]
    finally:
        torch.set_default_device(None)
    assert all(torch.equal(result, x + 1) for result in results)


def test_a_program_is_saved_where_a_path_says(tmp_path):
    f = megakittens.compile(lambda x: x + 1)
    f(torch.ones(4))
    f.save(tmp_path / "add.mkp")
    assert (tmp_path / "add.mkp").stat().st_size > 0


def test_a_graph_is_saved_and_loaded_where_a_path_says(tmp_path):
    graph = megakittens.capture(lambda x: x + 1, torch.ones(4))
    graph.save(tmp_path / "add.mkg.json")
    assert str(megakittens.Graph.load(tmp_path / "add.mkg.json")) == str(graph)


@pytest.mark.parametrize("device", ["reference", "emulator"])
def test_results_share_memory_and_have_strides_as_eagers_do(device):
    def f(x):
        y = x + 1
        return y, y.t(), y[1:, 2], y[:, :1].expand(3, 5), y[:0]

    x = torch.randn(3, 4)
    results, expected = megakittens.compile(f, device=device)(x), f(x)
    for a, b in zip(results, expected, strict=True):
        torch.testing.assert_close(a, b)
        assert a.stride() == b.stride() and a.storage_offset() == b.storage_offset()
    results[0][2, 2] = 7
    expected[0][2, 2] = 7
    for a, b in zip(results, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_a_signal_is_heard_while_the_emulator_runs_and_the_next_call_is_right():
    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    f = megakittens.compile(lambda a, b: a @ b, check=True)
    a, b = torch.randn(1536, 1536).bfloat16(), torch.randn(1536, 1536).bfloat16()
    expected = f(a, b)
    start = time.perf_counter()
    f(a, b)
    whole = time.perf_counter() - start
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2 * whole)
        start = time.perf_counter()
        with pytest.raises(Enough):
            f(a, b)
        assert time.perf_counter() - start < 0.7 * whole
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert f(a, b).equal(expected)


@pytest.mark.parametrize("options", [{}, {"numerics": "fused"}, {"fusion": False}])
@pytest.mark.parametrize(
    "function",
    [lambda x: x.long() * 0.5, lambda x: x - x.long(), lambda x: x.long().bool(), lambda x: x.to(torch.int32).half()],
)
def test_a_cast_to_an_integer_on_the_way_is_refused_where_it_is_not_computed(function, options):
    x = torch.tensor([1.7, -1.7, 0.4, 2.5])
    assert compiled(function)(x).equal(function(x))
    with pytest.raises(megakittens.UnsupportedError, match=r"(?s)test_compile.py:\d+ in .*would have to compute i(64|32) values"):
        megakittens.compile(function, **options)(x)


@pytest.mark.parametrize("device", ["reference", "emulator"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_a_number_is_compared_as_the_tensors_type_holds_it(name, dtype, device):
    compare = getattr(torch, name)

    def f(x, scalar):
        return compare(x, 0.1), compare(x, scalar), compare(scalar, x), compare(x, torch.tensor(0.1)), compare(x, True)

    x, scalar = torch.tensor([0.1, 0.2, 1.0, float("nan")]).to(dtype), torch.tensor(0.1)
    for result, expected in zip(megakittens.compile(f, device=device)(x, scalar), f(x, scalar), strict=True):
        assert result.equal(expected)


@pytest.mark.parametrize("device", ["reference", "emulator"])
def test_an_input_that_is_not_aligned_to_its_elements_is_right(device):
    memory = bytearray(1 + 4 * 8)
    x = torch.from_numpy(numpy.ndarray((8,), numpy.float32, memory, offset=1)).copy_(torch.arange(8.0))
    assert x.data_ptr() % 4 != 0
    result, same = megakittens.compile(lambda x: (x * 2, x.add_(1)), device=device)(x)
    assert result.equal(2 * torch.arange(8.0)) and x.equal(torch.arange(1.0, 9)) and same.data_ptr() == x.data_ptr()


@torch.no_grad()  # as inside a call: otherwise the handler's call is captured anew
def test_a_signal_handler_may_call_other_functions_and_is_refused_the_one_that_runs():
    f, g = megakittens.compile(lambda a, b: a @ b, check=True), megakittens.compile(lambda x: x + 1)
    a, b, x = torch.randn(1024, 1024).bfloat16(), torch.randn(1024, 1024).bfloat16(), torch.ones(8)
    expected, seen, refused = f(a, b), [], []
    g(x)

    def handler(*_):
        seen.append(g(x))
        try:
            f(a, b)
        except megakittens.UserError as error:
            refused.append(str(error))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for attempt in range(50):  # a signal may come before the run or behind it
            if refused:
                break
            signal.setitimer(signal.ITIMER_REAL, 0.02 * (1 + attempt))
            assert f(a, b).equal(expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "a signal handler calls it again" in refused[0]
    assert all(result.equal(x + 1) for result in seen) and f(a, b).equal(expected)


@pytest.mark.parametrize("device", ["reference", "emulator"])
def test_operands_of_other_types_are_converted_before_they_are_computed_with(device):
    def f(whole, half, scalar):
        return whole * half, half * whole, whole + scalar, half - scalar, scalar - half, half / whole

    args = torch.tensor([257, 3]), torch.tensor([3.0, 0.1]).bfloat16(), torch.tensor(0.1)
    for result, expected in zip(megakittens.compile(f, device=device)(*args), f(*args), strict=True):
        assert result.dtype == expected.dtype and result.equal(expected)


def test_bytes_that_are_not_0_are_true_as_in_pytorch():
    def both(mask, x):
        return mask.float(), x * mask, mask.float() + x

    x = torch.arange(6 * 512, dtype=torch.float32).reshape(6, 512)
    for mask in (torch.randint(0, 256, (6, 512), dtype=torch.uint8), torch.tensor([0, 1, 2, 255, 128, 7], dtype=torch.uint8)[:, None]):
        mask = mask.view(torch.bool)
        for ours, theirs in zip(megakittens.compile(both)(mask, x), both(mask, x), strict=True):
            assert torch.equal(ours, theirs)
