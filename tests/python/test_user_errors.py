"""One small test a mistake, on the text that the user reads."""

import pytest
import torch

import megakittens
from megakittens import OptionError, UnsupportedError, UserError, checks, dispatch
from megakittens.engine import Engine


def run(function, *inputs, **options):
    return megakittens.compile(function, device="reference", **options)(*inputs)


def test_a_graph_break_names_the_line():
    def f(x):
        y = x * 2
        print(y)
        return y

    with pytest.raises(UnsupportedError, match=r"not one graph: .* at test_user_errors.py:\d+ in f"):
        run(f, torch.ones(3))


def test_results_on_another_device_than_the_inputs_are_refused():
    text = r"the result of aten.full\S* at test_user_errors.py:\d+ in <lambda> is on 'meta', and the function runs on 'cpu'"
    with pytest.raises(UnsupportedError, match=text):
        run(lambda x: (x + 1, torch.full((3,), 2.0, device="meta")), torch.ones(3))
    with pytest.raises(UnsupportedError, match=text):
        run(lambda: (torch.ones(2, device="cpu") + 1, torch.full((3,), 2.0, device="meta")))


def test_weights_that_were_moved_are_named():
    graph = megakittens.capture(lambda x, weight: x @ weight, x=torch.ones(2, 4), weight=torch.ones(4, 4))
    tensors = [torch.ones(item["sizes"]) for item in graph.inputs]
    checks.layouts(graph.inputs, tensors, torch.device("cpu"))
    with pytest.raises(UserError, match=r"'weight' was on 'cpu' when .* and is on 'meta' now .*: move it back"):
        checks.layouts(graph.inputs, [tensors[0], tensors[1].to("meta")], torch.device("cpu"))


@pytest.fixture
def devices(monkeypatch):
    """On which devices functions would run, with no engine behind them."""
    found = []

    def engine_for(graph, settings, device, static):
        found.append(device.type)
        return Engine()

    monkeypatch.setattr(dispatch, "engine_for", engine_for)
    return found


def test_a_constant_on_the_cpu_is_moved_to_where_the_function_runs(devices):
    f = megakittens.compile(lambda x: torch.where(x > 0, x, torch.tensor(float("-inf"))))
    with pytest.raises(UnsupportedError, match="no memory of its own"):
        f(torch.ones(3, device="meta"))
    constants = [source.device.type for source in f.executables[0].sources if isinstance(source, torch.Tensor)]
    assert constants == devices == ["meta"]


def test_a_function_without_inputs_runs_where_its_results_are(devices):
    with pytest.raises(AttributeError, match="'run'"):  # nothing is there that runs it
        megakittens.compile(lambda: torch.full((4, 4), 2.0, device="meta") + 1)()
    assert devices == ["meta"]


def test_an_exception_of_the_function_itself_is_told():
    def f(x):
        if x.shape[0] != 8:
            raise ValueError("rows must be 8")
        return x * 2

    with pytest.raises(UnsupportedError, match=r"the function raises ValueError: rows must be 8 at test_user_errors.py:\d+ in f"):
        run(f, torch.ones(4, 4))
    with pytest.raises(UnsupportedError, match=r"the function raises KeyError: .*k.* at test_user_errors.py:\d+ in <lambda>"):
        run(lambda x: x * {}["k"], torch.ones(4, 4))


def test_inputs_that_require_grad_are_named_with_the_way_out():
    with pytest.raises(UnsupportedError, match=r"'x' requires grad: .*torch.no_grad\(\)"):
        run(lambda x: x * 2, torch.ones(3, requires_grad=True))


def test_parameters_that_require_grad_are_named():
    with pytest.raises(UnsupportedError, match=r"'weight' requires grad|'self.weight' requires grad"):
        run(torch.nn.Linear(3, 3), torch.ones(2, 3))


def test_an_unsupported_dtype_is_named():
    with pytest.raises(UnsupportedError, match=r"input 'x' has dtype float64; supported are bfloat16"):
        run(lambda x: x * 2, torch.ones(3, dtype=torch.float64))


def test_too_many_dimensions_are_named():
    with pytest.raises(UnsupportedError, match=r"input 'x' has 9 dimensions; at most 8"):
        run(lambda x: x * 2, torch.ones([1] * 9))


def test_tensors_on_two_devices_are_named():

    with pytest.raises(UnsupportedError, match=r"tensors on 2 devices: 'x' on cpu, 'y' on meta"):
        checks.inputs(["x", "y"], [torch.ones(3), torch.ones(3, device="meta")])


def test_tensors_on_two_devices_are_named_where_pytorch_is_the_first_to_see_it():
    here, there = torch.ones(3), torch.ones(3, device="meta")
    text = r"tensors on 2 devices: 'x' on cpu, 'W\[1\]' on meta. Move them to one device"
    with pytest.raises(UnsupportedError, match=text):
        run(lambda x, W: x + W[0] + W[1], here, [here, there])
    module = torch.nn.Linear(3, 3).requires_grad_(False)
    with pytest.raises(UnsupportedError, match=r"tensors on 2 devices: 'args\[0\]' on meta, 'weight' on cpu"):
        run(module, there)
    with pytest.raises(UnsupportedError, match=r"tensors on 2 devices: 'x' on cpu, 'there' on meta"):
        run(lambda x: x + there, here)


def test_a_symbolic_size_is_named_with_the_way_out():
    f = torch.compile(lambda x: x * 2, backend="megakittens", dynamic=True, options={"device": "reference"})
    with pytest.raises(Exception, match=r"size 0 of 'x' is symbolic .*dynamic=False"):
        f(torch.ones(5))


def test_an_unknown_option_lists_the_known_ones():
    with pytest.raises(OptionError, match=r"unknown option 'fuse'; known options are check, device, dry_run, .*numerics"):
        megakittens.compile(lambda x: x, fuse=True)


def test_an_impossible_value_lists_the_known_ones():
    with pytest.raises(OptionError, match=r"numerics='fast' is not possible; known values are 'eager', 'fused'"):
        megakittens.compile(lambda x: x, numerics="fast")


def test_an_unknown_backend_option_lists_the_known_ones():
    f = torch.compile(lambda x: x * 2, backend="megakittens", options={"tile": 3})
    with pytest.raises(Exception, match=r"unknown option 'tile'; known options are"):
        f(torch.ones(3))


def test_an_unknown_mode_lists_the_known_ones():
    from megakittens.backend import backend

    with pytest.raises(OptionError, match=r"unknown mode 'fast'; known modes are 'default', 'reduce-overhead'"):
        backend(None, [], mode="fast")


def test_mode_and_options_exclude_each_other():
    from megakittens.backend import backend

    with pytest.raises(OptionError, match=r"mode= or options=, not both"):
        backend(None, [], mode="reduce-overhead", options={"fusion": True})


def test_an_unsupported_operation_is_named_with_its_line():
    with pytest.raises(UnsupportedError, match=r"aten.cumsum.default.*at test_user_errors.py:\d+ in"):
        run(lambda x: torch.cumsum(x, 0), torch.ones(3))


def test_a_sparse_tensor_is_refused():

    with pytest.raises(UnsupportedError, match=r"'x' has layout torch.sparse_coo"):
        checks.inputs(["x"], [torch.ones(3).to_sparse()])


def test_what_is_no_function_is_refused():
    with pytest.raises(UserError, match=r"takes a function or a module, not int"):
        megakittens.compile(3)


@pytest.mark.parametrize("content", ["é".encode(), b'{"megakittens_graph":2,\xc3\xa9', b'{"a\xff\xfe": 1}', b"\xff"])
def test_a_damaged_file_that_is_no_text_is_refused_in_words(content, tmp_path):
    file = tmp_path / "bad.mkg.json"
    file.write_bytes(content)
    with pytest.raises(megakittens.FormatError, match="bad.mkg.json: graph: line 1, column .*not JSON"):
        megakittens.Graph.load(file)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "x.mkg.json"
    path.write_text('{"megakittens_graph": 2, "name": 3}')
    with pytest.raises(megakittens.FormatError, match=r"x.mkg.json: graph: \$.name: expected a string"):
        megakittens.load(str(path))


@pytest.mark.parametrize(
    "function, operation",
    [
        (lambda x: x.nonzero(), "aten.nonzero.default"),
        (lambda x: x[x > 0], "aten.index.Tensor"),
        (lambda x: torch.masked_select(x, x > 0).sum(), "aten.masked_select.default"),
    ],
)
def test_sizes_that_depend_on_the_data_are_refused_with_the_operation_and_the_line(function, operation):
    with pytest.raises(UnsupportedError, match=rf"{operation} at test_user_errors.py:\d+ in <lambda>: .* depends on the data"):
        run(function, torch.randn(4, 4))


def test_an_operation_inside_a_module_of_pytorchs_is_placed_by_the_module():
    with pytest.raises(UnsupportedError, match=r"node '_softmax' .* at module 1 \(Softmax\)"):
        run(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Softmax(0)), torch.ones(3))
    with pytest.raises(UnsupportedError, match=r"at module self \(Softmax\)"):
        run(torch.nn.Softmax(0), torch.ones(3))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_integers_that_the_reference_cannot_hold_are_refused_where_they_are_returned(dtype):
    small, large = torch.tensor([1 - 2**24, 2**24 - 1], dtype=dtype), torch.tensor([0, -(2**24) - 1], dtype=dtype)
    assert run(lambda x: x.clone(), small).equal(small)
    assert run(lambda x: x.float(), large).equal(large.float())
    assert run(lambda x: x[1:], large).equal(large[1:])
    for function in (
        lambda x: x.clone(),
        lambda x: torch.full((3,), 2**24 + 1, dtype=dtype),
        lambda x: torch.where(x.bool(), torch.ones_like(x), torch.full_like(x, 2**24 + 1)),
        lambda x: torch.zeros_like(x).fill_(2**24 + 1),
        lambda x: x.float().fill_(float("nan")).to(dtype),
    ):
        with pytest.raises(UnsupportedError, match=r"would be integers of 2\^24 or more.*outside the compiled function"):
            run(function, large)


def test_reasons_of_two_instruction_types_that_agree_are_given_once():
    with pytest.raises(UnsupportedError) as caught:
        megakittens.compile(lambda x: x.long())(torch.ones(2))
    assert str(caught.value).count("it would have to compute i64 values") == 1


@pytest.mark.parametrize(
    "function, operation",
    [(lambda x, i: x * i.item(), "item"), (lambda x, i: x[i] * 2, "getitem")],
)
def test_numbers_out_of_the_data_are_refused_with_the_operation_and_the_line(function, operation):
    with pytest.raises(UnsupportedError, match=rf"{operation}.* at test_user_errors.py:\d+ in .* needs a number out of .*Keep it"):
        run(function, torch.ones(4), torch.tensor(1))


def test_the_reference_says_why_an_operation_is_not_supported_and_the_way_out():
    with pytest.raises(UnsupportedError, match=r"aten.add.*test_user_errors.py.*no reference.*integers are viewed.*instruction type"):
        run(lambda i: i + 1, torch.ones(3, dtype=torch.int64))
