"""Users' instruction types from Python: the example, what can be got wrong, and plug-ins."""

import pathlib
import re
import sys

import pytest
import torch

import megakittens
from megakittens import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/rms_norm"
PLUGIN = ROOT / "build/release/examples/rms_norm.so"

HALF = """#pragma once
#include "ops/user/direct.cuh"
namespace megakittens::user {
struct AddOne : ops::Direct {
  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using device::Lanes;
    begin(c);
    const ops::GlobalOperand from(c.window(0)), to(c.window(1));
    const Lanes<int32_t> column = device::convert<int32_t>(device::lane_index()) + static_cast<int32_t>(32 * c.warp);
    const Lanes<bool> mask = column < c.index(2);
    const Lanes<float> x = ops::load_value(from.type, from.base, from.offset(Lanes<int32_t>(0), column), mask);
    ops::store_value(to.type, to.base, to.offset(Lanes<int32_t>(0), column), x + 1.0f, mask);
    end(c);
  }
};
}
"""


@torch.library.custom_op("megakittens_test::add_one", mutates_args=())
def add_one(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@add_one.register_fake
def _(x):
    return torch.empty_like(x)


class AddOne(megakittens.InstructionType):
    name = "add_one"
    operation = add_one

    def plan(self, call):
        return megakittens.Plan([[0, 0, call.inputs[0].sizes[3]]])

    def touches(self, operands, index):
        return [(k, (0, 0, 0, 0), (1, 1, 1, index[2])) for k in range(2)]

    def examples(self):
        return [[torch.empty(100)], [torch.empty(33, dtype=torch.bfloat16)]]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setenv("MEGAKITTENS_CACHE_DIR", str(ROOT / "build/release/examples/cache"))
    forget()
    yield
    forget()


def forget():
    for name in _core.registered_types():
        megakittens.unregister(name)


@pytest.fixture
def half(tmp_path):
    path = tmp_path / "add_one.cuh"
    path.write_text(HALF)
    return str(path)


@pytest.fixture
def rms_norm(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    module = sys.modules.get("rms_norm")
    if module is None:
        import rms_norm as module
    else:
        megakittens.register(module.RmsNorm)
    return module


def compiled(fn, *args):
    return megakittens.compile(fn, check=True)(*args)


def test_the_example_is_right_and_runs(rms_norm, capsys):
    rms_norm.main()
    text = capsys.readouterr().out
    assert "rms_norm is right in 40 programs, 240 launches under the checker" in text
    assert float(text.split("largest difference ")[1]) < 0.05


def test_a_type_serves_calls_between_other_operations_and_keyword_arguments(rms_norm):
    x, weight = torch.randn(3, 20, 96).bfloat16(), torch.rand(96).bfloat16()

    def f(x, weight):
        y = rms_norm.rms_norm(x * 2, weight, epsilon=0.25)
        return rms_norm.rms_norm(y + x, weight)

    torch.testing.assert_close(compiled(f, x, weight), f(x, weight), rtol=2e-2, atol=2e-2)


def test_operations_behind_a_call_are_fused_where_the_type_takes_them(rms_norm):
    x, weight, b = torch.randn(21, 96).bfloat16(), torch.rand(96).bfloat16(), torch.randn(21, 96).bfloat16()

    def f(x, weight, b):
        return torch.nn.functional.silu(rms_norm.rms_norm(x, weight, 0.25) * 2 + b).float()

    fused, alone = megakittens.compile(f, check=True), megakittens.compile(f, check=True, fusion=False)
    assert torch.equal(fused(x, weight, b), alone(x, weight, b))
    assert "rms_norm" in fused.explain() and "elementwise" not in fused.explain()
    assert "elementwise" in alone.explain()


def test_the_reference_is_the_operation_itself(half):
    kind = megakittens.register(AddOne(device=half))
    assert kind.test(schedules=1, target="sm_90a") == (8, 16)
    x = torch.randn(70)
    y = megakittens.compile(lambda x: add_one(x) * 3, device="reference")(x)
    torch.testing.assert_close(y, (x + 1) * 3)


def test_functions_may_be_parts_of_an_object(half):
    kind = megakittens.InstructionType(
        name="add_one",
        operation="megakittens_test::add_one",
        device=half,
        plan=lambda call: megakittens.Plan([[0, 0, call.inputs[0].shape[0]]]),
        touches=AddOne().touches,
    )
    megakittens.register(kind)
    torch.testing.assert_close(compiled(lambda x: add_one(x), torch.ones(9)), torch.full((9,), 2.0))
    with pytest.raises(megakittens.OptionError, match="has no 'colour'"):
        megakittens.InstructionType(colour="red")


def test_a_plugin_gives_the_host_half():
    kind = megakittens.register(megakittens.InstructionType(plugin=str(PLUGIN), device=str(EXAMPLE / "rms_norm.cuh")))
    assert kind.name == "rms_norm"
    assert kind.test(schedules=1, target="sm_90a")[0] == 20


def test_a_plugin_is_registered_again_after_it_was_unregistered(tmp_path):
    half = tmp_path / "rms_norm.cuh"
    text = (EXAMPLE / "rms_norm.cuh").read_text()
    for edited in (text, text + "// edited\n"):
        half.write_text(edited)
        for _ in range(2):  # the second time it is there already
            kind = megakittens.register(megakittens.InstructionType(plugin=str(PLUGIN), device=str(half)))
            assert kind.name == "rms_norm"
            assert _core.registered_types() == ["rms_norm"]
        megakittens.unregister(kind)
        assert _core.registered_types() == []
    megakittens.register(AddOne(name="rms_norm", device=str(half)))
    with pytest.raises(megakittens.UserError, match="an instruction type 'rms_norm' is registered already"):
        megakittens.register(megakittens.InstructionType(plugin=str(PLUGIN), device=str(half)))


def test_unregistered_types_are_gone(half):
    megakittens.register(AddOne(device=half))
    f = megakittens.compile(lambda x: add_one(x), check=True)
    f(torch.ones(4))
    megakittens.unregister("add_one")
    torch.testing.assert_close(f(torch.ones(4)), torch.full((4,), 2.0))  # what is loaded goes on
    torch._dynamo.reset()
    with pytest.raises(megakittens.UnsupportedError, match="megakittens_test.add_one.default is not supported"):
        compiled(lambda x: add_one(x), torch.ones(4))
    with pytest.raises(megakittens.UserError, match="no instruction type 'add_one' is registered"):
        megakittens.check_type("add_one")


def broken(half, **parts):
    return megakittens.InstructionType(
        **{"name": "add_one", "operation": add_one, "device": half, "plan": AddOne().plan, "touches": AddOne().touches} | parts
    )


@pytest.mark.parametrize(
    "parts, words",
    [
        ({"name": None}, "an instruction type needs 'name'"),
        ({"name": "Add One"}, "'Add One' is no name for an instruction type"),
        ({"operation": 3}, "operation=3 is none"),
        ({"device": "/nowhere/a.cuh"}, "device half of instruction type 'add_one': cannot open"),
    ],
)
def test_what_cannot_be_registered_says_why(half, parts, words):
    with pytest.raises(megakittens.UserError, match=words):
        megakittens.register(broken(half, **parts))


def test_only_types_are_registered():
    with pytest.raises(megakittens.UserError, match="takes an InstructionType, not int"):
        megakittens.register(3)


@pytest.mark.parametrize(
    "parts, words",
    [
        ({"plan": lambda call: call.operands[7]}, r"(?s)plan\(\) of instruction type 'add_one' failed: .*IndexError"),
        ({"plan": lambda call: [[0, 0, 4]]}, r"plan\(\) returns a megakittens.Plan, not list"),
        ({"plan": lambda call: megakittens.Plan([["a", 0]])}, "has another form than the guide describes"),
        ({"touches": lambda operands, index: [(0, (0,) * 4, (1, 1, 1, 5))]}, r"reads \[0:1, 0:1, 0:1, 0:5\] of operand 0, outside"),
        ({"unsuited": lambda call: f"it is {call.inputs[0].dtype}"}, "add_one: it is f32"),
    ],
)
def test_a_host_half_that_is_wrong_is_named(half, parts, words):
    megakittens.register(broken(half, **parts))
    with pytest.raises(megakittens.UserError, match=words):
        compiled(lambda x: add_one(x), torch.ones(4))


def interrupted(by):
    def method(*arguments):
        raise by

    return method


@pytest.mark.parametrize("by", [KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("method", ["unsuited", "plan", "touches", "reference", "examples"])
def test_an_interrupt_in_a_host_half_is_no_error_of_the_user(half, method, by):
    kind = megakittens.register(AddOne(device=half, **{method: interrupted(by)}))
    with pytest.raises(type(by)):
        kind.test(schedules=1, target="sm_90a")


def test_an_interrupt_while_the_emulator_runs_gets_through(half):
    calls = []

    def touches(operands, index):
        calls.append(index)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return AddOne().touches(operands, index)

    stop = 0
    kind = megakittens.register(AddOne(device=half, touches=touches, examples=lambda: [[torch.empty(33)]]))
    kind.test(schedules=1, target="sm_90a")
    for stop in range(len(calls), 0, -1):
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            kind.test(schedules=1, target="sm_90a")
    stop = 0
    assert kind.test(schedules=1, target="sm_90a")[0] == 4


@pytest.mark.parametrize("schedules", [0, -1])
def test_a_test_has_at_least_one_schedule(half, schedules):
    kind = megakittens.register(AddOne(device=half))
    with pytest.raises(megakittens.OptionError, match=f"schedules={schedules}: the test needs at least one"):
        kind.test(schedules=schedules)


@pytest.mark.parametrize(
    "parts",
    [
        {"plan": lambda call: megakittens.Plan([])},
        {"touches": lambda operands, index: [(0, (0,) * 4, (1, 1, 1, index[2]))]},
        {"touches": lambda operands, index: [(k, (0,) * 4, (1, 1, 1, 2)) for k in range(2)]},
    ],
)
def test_a_result_that_is_not_written_whole_is_never_returned(half, parts):
    kind = megakittens.register(broken(half, examples=lambda: [[torch.empty(4)]], **parts))
    words = r"(?s)instruction type 'add_one' say:.*\[never written\]"
    with pytest.raises(megakittens.UserError, match=words):
        megakittens.compile(lambda x: add_one(x) * 1)(torch.ones(4))
    with pytest.raises(megakittens.UserError, match=r"(?s)'add_one', example 0 .*" + words[4:]):
        kind.test(schedules=1, target="sm_90a")


def test_a_reference_that_fails_is_named(half):
    kind = megakittens.register(AddOne(device=half, reference=lambda call, x: [x, x]))
    with pytest.raises(megakittens.UserError, match="gives 2 results for .*, which has 1"):
        kind.test(schedules=1, target="sm_90a")


def test_a_wrong_device_half_fails_its_test_by_name(half):
    pathlib.Path(half).write_text(HALF.replace("1.0f", "1.5f"))
    kind = megakittens.register(AddOne(device=half))
    with pytest.raises(megakittens.ExecutionError, match=r"'add_one', example 0 \(f32\[100\]\), alone, .*differs from the reference"):
        kind.test(schedules=1, target="sm_90a")


def test_what_the_guide_shows_is_right(tmp_path):
    guide = (ROOT / "docs/guides/instruction-types.md").read_text()
    operation = re.search(r"```python\n(@torch.library.*?)```", guide, re.S).group(1)
    assert operation in (EXAMPLE / "rms_norm.py").read_text()
    (tmp_path / "doubled.cuh").write_text(re.search(r"```cpp\n(.*?)```", guide, re.S).group(1))

    def touches(operands, index):
        row, rows, columns = index[2:]
        return [(k, (0, 0, row, 0), (1, 1, row + rows, columns)) for k in range(2)]

    def plan(call):
        rows, columns = call.inputs[0].sizes[2:]
        return megakittens.Plan([[0, 0, row, min(8, rows - row), columns] for row in range(0, rows, 8)])

    kind = megakittens.InstructionType(
        name="doubled",
        operation=add_one,
        device=str(tmp_path / "doubled.cuh"),
        plan=plan,
        touches=touches,
        reference=lambda call, x: x * 2,
        examples=lambda: [[torch.empty(21, 300)], [torch.empty(5, 7, dtype=torch.bfloat16)]],
    )
    megakittens.register(kind)
    assert kind.test(schedules=1) == (16, 32)
