"""megakittens.capture: what PyTorch hands over becomes the graph a reader expects."""

import json

import numpy as np
import pytest
import torch

import megakittens


def ops(graph):
    return [node["op"] for node in graph.nodes]


def test_a_captured_graph_prints_its_nodes_with_source_lines():
    graph = megakittens.capture(lambda x, y: torch.relu(x @ y), torch.ones(4, 4), torch.ones(4, 4))
    text = str(graph)
    assert "matmul(x, y)" in text
    assert "test_capture.py:" in text
    assert ops(graph) == ["matmul", "relu"]


def test_capturing_computes_nothing_and_writes_nothing():
    x = torch.ones(3)

    def bump(x):
        return x.add_(1)

    graph = megakittens.capture(bump, x)
    assert graph.inputs[0]["mutated"]
    assert x.tolist() == [1, 1, 1]


def test_a_module_binds_its_parameters_by_their_names():
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU())
    graph = megakittens.capture(module, torch.ones(2, 8))
    assert [item["name"] for item in graph.inputs][:2] == ["0.weight", "0.bias"]


def test_keyword_arguments_lists_and_nested_outputs_are_captured():
    def f(xs, *, scale):
        return {"sum": [xs[0] + xs[1], xs[0] * scale]}, None, 3

    graph = megakittens.capture(f, [torch.ones(2), torch.ones(2)], scale=2.0)
    assert len(graph.outputs) == 2


def test_views_become_edges():
    def f(x):
        a, b = x.chunk(2, dim=1)
        return a[1:].t() + b.transpose(0, 1)[:, ::2][:, :1], x.permute(1, 0).unsqueeze(0).expand(2, 8, 4).diagonal(0, 1, 2)

    graph = megakittens.capture(f, torch.ones(4, 8)[:, :8])
    assert "call" not in ops(graph)


def test_a_reshape_that_is_no_view_becomes_a_copy():
    graph = megakittens.capture(lambda x: x.t().reshape(-1) + 1, torch.ones(4, 8))
    assert ops(graph) == ["copy", "pointwise"]


def test_a_graph_with_symbolic_sizes_is_bound_before_it_runs():
    names = {"name": "f", "symbols": {"s0": 2}, "inputs": [0], "outputs": [[1]]}
    values = [{"name": name, "dtype": "f32", "shape": ["s0", 3]} for name in ("x", "y")]
    relu = {"op": "relu", "name": "y", "operands": [[0]], "outputs": [1]}
    text = json.dumps({"megakittens_graph": 2, **names, "values": values, "nodes": [relu]})
    graph = megakittens.Graph.from_json(text)
    assert graph.symbols == {"s0": 2}
    assert "f32[s0, 3]" in str(graph)
    bound = graph.bind({"s0": 5})
    assert bound.symbols == {}
    assert bound.inputs[0]["sizes"] == [5, 3]
    outputs, _ = bound.evaluate([np.full(15, -1, np.float32)])
    assert outputs[0].tolist() == [0] * 15
    with pytest.raises(megakittens.UserError, match="graph 'f' has unbound symbols s0: bind them first"):
        graph.evaluate([np.zeros(6, np.float32)])
    with pytest.raises(megakittens.OptionError, match="no value for s0; it has s0"):
        graph.bind({})


def test_an_update_of_a_slice_is_written_in_place():
    def f(cache, row):
        cache[:, 1:2] = row * 2
        return cache.sum(0)

    graph = megakittens.capture(f, torch.ones(3, 4), torch.ones(3, 1))
    assert ops(graph) == ["pointwise", "call"]
    assert "into cache[:, 1:2]" in str(graph)


def test_overwriting_an_input_that_is_still_needed_keeps_its_old_value():
    def f(x, y):
        z = x + 1
        w = x * 2
        x.copy_(z)
        return w + y

    assert_same(f, torch.randn(4), torch.randn(4))


def test_swapping_two_inputs_keeps_both():
    def f(x, y):
        old = x.clone()
        x.copy_(y)
        y.copy_(old)

    assert_same(f, torch.randn(4), torch.randn(4))


def test_a_custom_operation_that_writes_is_opaque_and_in_place():
    graph = megakittens.capture(lambda x: torch.ops.megakittens_test.increment(x[1]), torch.ones(3, 4))
    assert ops(graph) == ["call"]
    assert graph.inputs[0]["mutated"]
    assert graph.nodes[0]["target"] == "megakittens_test.increment.default"


def test_attention_stays_one_operation():
    q = torch.ones(1, 2, 4, 8)
    graph = megakittens.capture(lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True), q)
    assert [node["target"] for node in graph.nodes] == ["megakittens.scaled_dot_product_attention.default"]


def test_an_unsupported_operation_is_opaque_with_its_line_and_capture_succeeds():
    graph = megakittens.capture(lambda x: torch.cumsum(x, 0).sort()[0], torch.ones(4))
    assert ops(graph) == ["call", "call"]
    assert "test_capture.py:" in graph.nodes[0]["source"]


def test_an_unsupported_form_says_why():
    graph = megakittens.capture(lambda x: torch.div(x, 2.0, rounding_mode="floor"), torch.ones(4))
    assert "rounding_mode=floor" in graph.nodes[0]["why"]


def test_a_saved_graph_loads_as_it_was(tmp_path):
    graph = megakittens.capture(lambda x: x * 2 + 1, torch.ones(4, 4, dtype=torch.bfloat16))
    graph.save(str(tmp_path / "f.mkg.json"))
    assert megakittens.load(str(tmp_path / "f.mkg.json")) == graph


def test_capturing_again_with_another_shape_gives_another_graph():
    def f(x):
        return x * 2

    shapes = [megakittens.capture(f, torch.ones(n)).inputs[0]["sizes"] for n in range(2, 14)]
    assert shapes == [[n] for n in range(2, 14)]


@torch.library.custom_op("megakittens_test::increment", mutates_args=("x",))
def increment(x: torch.Tensor) -> None:
    x.add_(1)


def assert_same(function, *inputs):
    """The reference evaluation of the capture and eager agree on results and on what they leave in the inputs."""
    theirs = [value.clone() for value in inputs]
    ours = [value.clone() for value in inputs]
    expected = function(*theirs)
    result = megakittens.compile(function, device="reference")(*ours)
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(ours, theirs)


POINTWISE = {
    "neg": lambda x, y: -x,
    "abs": lambda x, y: x.abs(),
    "exp": lambda x, y: x.exp(),
    "exp2": lambda x, y: x.exp2(),
    "log": lambda x, y: x.abs().log(),
    "log2": lambda x, y: x.abs().log2(),
    "sqrt": lambda x, y: x.abs().sqrt(),
    "rsqrt": lambda x, y: x.abs().rsqrt(),
    "reciprocal": lambda x, y: x.reciprocal(),
    "relu": lambda x, y: x.relu(),
    "gelu": lambda x, y: torch.nn.functional.gelu(x),
    "gelu_tanh": lambda x, y: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": lambda x, y: torch.nn.functional.silu(x),
    "sigmoid": lambda x, y: x.sigmoid(),
    "tanh": lambda x, y: x.tanh(),
    "add_alpha": lambda x, y: torch.add(x, y, alpha=2.5),
    "sub_alpha": lambda x, y: torch.sub(x, y, alpha=-0.5),
    "rsub": lambda x, y: 3 - x,
    "rsub_alpha": lambda x, y: torch.rsub(x, y, alpha=2.0),
    "div": lambda x, y: x / y,
    "scalar_div": lambda x, y: 2.0 / x,
    "maximum": lambda x, y: torch.maximum(x, y),
    "minimum": lambda x, y: torch.minimum(x, y),
    "clamp": lambda x, y: x.clamp(-0.5, 0.5),
    "clamp_min": lambda x, y: x.clamp_min(0.1),
    "pow2": lambda x, y: x**2,
    "pow3": lambda x, y: x**3,
    "pow_half": lambda x, y: x.abs() ** 0.5,
    "pow_general": lambda x, y: x.abs() ** 1.7,
    "pow_base": lambda x, y: 2.0**x,
    "eq": lambda x, y: x == x,
    "compare": lambda x, y: (x > y) & (x >= 0) | ~(x <= -1),
    "where": lambda x, y: torch.where(x > y, x, 0.0),
    "masked_fill": lambda x, y: x.masked_fill(y > 0, -1.0),
    "broadcast": lambda x, y: x + y[0] * y[:, :1],
    "casts": lambda x, y: (x.half() + y.half()).float() + (x > 0).float(),
    "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5),
    "constants": lambda x, y: x * torch.ones_like(x) + torch.full((7,), 2.0),
    "strided": lambda x, y: x.t().contiguous() + y.t(),
    "transposed_result": lambda x, y: (x.t() + y.t()),
}


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_agrees_with_eager(name):
    assert_same(POINTWISE[name], torch.randn(5, 7), torch.randn(5, 7))


PRODUCTS = {
    "mm": lambda a, b, c: a @ b,
    "mm_transposed": lambda a, b, c: (b.t() @ a.t()).t(),
    "sliced": lambda a, b, c: a[1:4, 2:6] @ b[::2][:4],
    "addmm": lambda a, b, c: torch.addmm(c, a, b, alpha=0.5, beta=2.0),
    "addmm_zero_beta": lambda a, b, c: torch.addmm(c * float("nan"), a, b, beta=0),
    "linear": lambda a, b, c: torch.nn.functional.linear(a, b.t(), c),
    "bmm": lambda a, b, c: torch.bmm(a.expand(3, 6, 8), b.expand(3, 8, 5)),
    "baddbmm": lambda a, b, c: torch.baddbmm(c, a.expand(3, 6, 8), b.expand(3, 8, 5), beta=0.5),
    "matmul_broadcast": lambda a, b, c: a.expand(2, 3, 6, 8) @ b,
    "matvec": lambda a, b, c: a @ b[:, 0],
    "vecmat": lambda a, b, c: a[0] @ b,
    "einsum": lambda a, b, c: torch.einsum("ik,kj->ji", a, b),
    "three_dimensions": lambda a, b, c: torch.nn.functional.linear(a.view(2, 3, 8), b.t(), c),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_agree_with_eager(name):
    assert_same(PRODUCTS[name], torch.randn(6, 8), torch.randn(8, 5), torch.randn(5))


def nested_update(x, y):
    x[0:2][:, 1] += 3
    x[3].zero_()
    x.view(-1)[0:3].fill_(2.0)
    return x * 2


def chained_updates(x, y):
    x[1:3].mul_(2)
    y[0] = x[1]
    return x * 2, x[0], y


def update_and_return(x, y):
    z = x + y
    x.copy_(z)
    return z


def update_of_a_temporary(x, y):
    z = torch.zeros_like(x)
    z[1:3] = y[1:3]
    z[:, 2] *= 4
    return z + x


def diagonal_update(x, y):
    x.diagonal().add_(y[0])
    return x.t()


def shared_old_value(x, y):
    a = x[0] + 1
    b = x[1] + 1
    x[0] = b
    x[1] = a
    return x.clone()


UPDATES = [nested_update, chained_updates, update_and_return, update_of_a_temporary, diagonal_update, shared_old_value]


@pytest.mark.parametrize("function", UPDATES, ids=lambda function: function.__name__)
def test_updates_agree_with_eager(function):
    assert_same(function, torch.randn(4, 4), torch.randn(4, 4))
