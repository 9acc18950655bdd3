"""What a call reads of tensors without asking PyTorch is what PyTorch says, and what may not be read so is not."""

import copy
import gc
import weakref

import pytest
import torch
from stand_in import gpu
from test_fast_calls import DispatchMode, expect, no_gradients, plain, ready, x

import megakittens
from megakittens import _core, compat_guards, compat_tensors

__all__ = ["expect", "gpu", "no_gradients", "ready"]


@pytest.fixture(params=["fields", "asked"])
def either(request, monkeypatch):
    """Once with tensors' fields, and once as with a PyTorch whose tensors look otherwise."""
    monkeypatch.setattr(compat_tensors, "READABLE", request.param == "fields")


def test_the_fields_of_this_pytorch_are_known():
    assert compat_tensors.READABLE and all(compat_tensors._readable() for _ in range(50))


def test_nothing_is_read_of_another_pytorch(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.12.0")
    assert not compat_tensors._readable()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda told: {**told, "keys": told["keys"] ^ 1},
        lambda told: {**told, "sizes": told["strides"], "strides": told["sizes"]},
        lambda told: {**told, "address": told["address"] + 16},
        lambda told: {**told, "plain": True},
        lambda told: {**told, "autograd": False},
        lambda told: {**told, "dtype": told["dtype"] + 1},
    ],
    ids=["keys", "layout", "address", "plain", "autograd", "dtype"],
)
def test_fields_in_another_place_are_noticed(monkeypatch, spoil):
    right = _core.tensor_fields
    monkeypatch.setattr(_core, "tensor_fields", lambda tensor, size: spoil(right(tensor, size)))
    assert not compat_tensors._readable()


def test_calls_are_the_same_where_fields_are_not_known(either, expect):
    f = megakittens.compile(plain)
    expect(f, plain, x(), x(), fast=False)
    good, bad = x(), x().requires_grad_()
    for a, b, fast in [(x(), x(), True), (good, good, False), (x(4, 16), x(4, 16), False), (bad, x(), False), (x(), x(), True)]:
        expect(f, plain, a, b, fast=fast)


def test_weights_are_looked_at_in_every_call(either, expect):
    module = torch.nn.Linear(16, 16).requires_grad_(False)
    f = megakittens.compile(module)
    expect(f, module, x())
    module.weight.data = x(16, 16)
    expect(f, module, x(), fast=True)
    module.weight.data = x(16, 16).t()
    with pytest.raises(megakittens.UserError, match="was replaced"):
        f(x())
    module.weight.data = x(16, 16).half()
    with pytest.raises(megakittens.UserError):
        f(x())


def test_a_tensor_that_shares_memory_until_it_is_written_is_not_written_fast(expect):
    def g(a, b):
        a.mul_(2)
        return a + b

    f = megakittens.compile(g)
    for _ in range(2):
        f(x(), x())
    whole = x()
    kept = whole.clone()
    lazy = torch._lazy_clone(whole)
    f(lazy, x())
    assert torch.equal(whole, kept) and torch.equal(lazy, kept * 2)
    other = torch._lazy_clone(whole)
    expect(megakittens.compile(plain), plain, other, x(), fast=False)
    assert torch.equal(whole, kept)


def test_weights_that_are_lazily_negated_are_not_misread(expect):
    module = torch.nn.Linear(16, 16, bias=False).requires_grad_(False)
    f = megakittens.compile(module)
    expect(f, module, x())
    expect(f, module, x(), fast=True)
    module.weight.data = torch._neg_view(x(16, 16))
    try:
        result = f(y := x())
    except megakittens.Error:
        return
    torch.testing.assert_close(result, module(y))


def test_a_storage_that_was_resized_is_not_fast(gpu, ready):
    before = gpu.fast_calls
    for bytes_left in (0, 64):
        short = x()
        short.untyped_storage().resize_(bytes_left)
        check = _core.tensor_fields(short, 4)
        assert check["plain"] and check["sizes"] == [8, 16]
        call = ready.executables[0].fast_call(LookupError)
        with pytest.raises(LookupError):
            call(short, x())
    assert gpu.fast_calls == before


def test_views_are_fast_and_what_requires_gradients_is_not(expect, ready):
    whole = x(32, 16)
    expect(ready, plain, whole[:8], whole[8:16], fast=True)
    expect(ready, plain, whole[:8].requires_grad_(), x(), fast=False)
    expect(ready, plain, x(), torch.nn.Parameter(x()).data, fast=True)
    with torch.enable_grad():
        graph = x(32, 16).requires_grad_() * 2
        inner = graph[:8]
    expect(ready, plain, x(), inner, fast=False)
    expect(ready, plain, x(), graph.detach()[8:16], fast=True)


def test_what_was_captured_with_views_is_for_other_tensors_too(expect):
    f = megakittens.compile(plain)
    expect(f, plain, x(32, 16)[:8], x().requires_grad_(), fast=False)
    expect(f, plain, x(), x().requires_grad_(), fast=True)
    expect(f, plain, x(), x(), fast=False)


def test_the_state_of_dispatch_of_the_thread_is_noticed(gpu, expect, ready):
    before = gpu.fast_calls
    args = x(), x()
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.ADInplaceOrView)):
        torch.testing.assert_close(ready(*args), plain(*args))
    assert gpu.fast_calls == before
    expect(ready, plain, x(), x(), fast=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tracing_is_noticed(gpu, ready):
    inside = []

    def traced(a, b):
        before = gpu.fast_calls
        try:
            return ready(a, b)
        finally:
            inside.append(gpu.fast_calls - before)

    try:
        torch.jit.trace(traced, (x(), x()), check_trace=False)
    except Exception as error:
        assert not isinstance(error, megakittens.errors.InternalError)
    assert inside == [0]


def test_without_tensors_among_the_parameters_modes_and_tracing_are_asked_for(expect):
    weights = [x(), x()]

    def g(scale):
        return weights[0] * scale + weights[1]

    f = megakittens.compile(g)
    for fast in (False, True):
        expect(f, g, 2.0, fast=fast)
    with DispatchMode():
        expect(f, g, 2.0, fast=False)
    expect(f, g, 3.0, fast=False)


@pytest.mark.parametrize("split", [True, False], ids=["questions", "guards"])
def test_each_part_of_the_global_state_is_noticed(expect, monkeypatch, split):
    if not split:
        monkeypatch.setattr(compat_guards, "_state", lambda root: None)
    f = megakittens.compile(plain)
    for fast in (False, True):
        expect(f, plain, x(), x(), fast=fast)
    args = x(), x()
    changes = {
        "threads": (torch.get_num_threads, torch.set_num_threads, torch.get_num_threads() + 1),
        "dtype": (torch.get_default_dtype, torch.set_default_dtype, torch.float64),
        "tf32": (lambda: torch.backends.cuda.matmul.allow_tf32, lambda on: setattr(torch.backends.cuda.matmul, "allow_tf32", on), True),
        "deterministic": (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms, True),
        "device": (lambda: None, torch.set_default_device, "cpu"),
    }
    for name, (get, put, other) in changes.items():
        before = get()
        put(other)
        try:
            assert f._forms[0](*args) is _core.MISSED, name
        finally:
            put(before)
        expect(f, plain, x(), x(), fast=True)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda a: a, lambda a: a)
    with hooks:
        expect(f, plain, x(), x())


class Counting(torch.overrides.TorchFunctionMode):
    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        Counting.calls += 1
        return function(*args, **(kwargs or {}))


def test_asking_calls_no_function_mode(ready):
    form = ready._forms[0]
    args = x(), x()[:]
    with Counting():
        before = Counting.calls
        assert form(*args) is _core.MISSED
        assert Counting.calls == before


def several(first, *rest, more):
    total = first
    for one in [*rest, *more]:
        total = total + one
    return total


def test_tensors_in_tuples_and_lists_are_compared_one_by_one(either, expect):
    f = megakittens.compile(several)
    rest, more = [x(), x()], [x(), x(), x()]
    expect(f, several, x(), *rest, more=more, fast=False)
    expect(f, several, x(), *rest, more=more, fast=True)
    expect(f, several, x(), *rest, more=[x(), x(), x()], fast=True)
    expect(f, several, x(), *more, more=rest, fast=False)  # as many tensors, otherwise divided
    expect(f, several, x(), *rest, more=tuple(more), fast=False)
    expect(f, several, x(), *rest, more=[x(), x(), rest[0]], fast=False)
    expect(f, several, x(), *rest, more=[x(), x(), x().double().float().t().contiguous().t()], fast=False)
    expect(f, several, x(), *rest, more=[x(), x(), x().requires_grad_()], fast=False)
    expect(f, several, x(), *rest, more=[x(), 2.0, x()], fast=None)
    expect(f, several, x(), *rest, more=more, fast=True)


class Kind(list):
    pass


def test_a_subclass_of_list_is_not_taken_for_a_list(expect):
    def total(tensors):
        return tensors[0] + tensors[1]

    f = megakittens.compile(total)
    for fast in (False, True):
        expect(f, total, [x(), x()], fast=fast)
    expect(f, total, Kind([x(), x()]), fast=False)
    expect(f, total, [x()] * 2, fast=False)


def test_many_tensors_are_left_to_pytorch(expect):
    def total(*tensors):
        return sum(tensors[1:], tensors[0])

    f = megakittens.compile(total)
    args = [x(4, 4) for _ in range(compat_guards.MANY + 1)]
    for fast in (False, True):
        expect(f, total, *args, fast=fast)
    expect(f, total, *args[:-1], args[0], fast=False)


def test_inference_tensors_are_another_kind(expect, ready):
    with torch.inference_mode():
        strange = x()
    expect(ready, plain, strange, x(), fast=False)
    expect(ready, plain, strange, x(), fast=True)


def test_a_call_within_torch_compile_is_one_graph_with_what_is_around(ready):
    around = torch.compile(lambda a, b: ready(a, b) - 1, backend="eager", fullgraph=True)
    a, b = x(), x()
    torch.testing.assert_close(around(a, b), plain(a, b) - 1)


def test_derived_classes_and_copies_can_be_called(expect, ready):
    twin = copy.copy(ready)
    expect(twin, plain, x(), x())
    expect(twin, plain, x(), x(), fast=True)
    expect(ready, plain, x(), b=x(), fast=True)
    assert ready.__call__(a := x(), b := x()).equal(plain(a, b)) and callable(ready)

    class Derived(type(ready)):
        pass

    expect(Derived(plain, ready._mk_settings), plain, x(), x())


def test_only_classes_of_ours_answer_with_forms():
    with pytest.raises(TypeError, match="FormCaller"):
        _core.calls_forms(int)
    caller = _core.FormCaller()
    caller._forms = (lambda a: _core.MISSED, lambda a: a + 1)
    with pytest.raises(AttributeError, match="_prefer"):
        caller(1)
    caller._forms = "nonsense"
    with pytest.raises(AttributeError, match="_call"):
        caller(1)


def test_a_caller_in_a_cycle_is_collected():
    class Caller(_core.FormCaller):
        pass

    caller = Caller()
    caller._forms = (lambda: caller,)
    assert caller() is caller
    gone = weakref.ref(caller)
    del caller
    gc.collect()
    assert gone() is None


def test_arguments_reach_the_usual_way_as_they_were_given():
    @_core.calls_forms
    class Caller(_core.FormCaller):
        def _call(self, args, kwargs):
            return args, kwargs

    caller = Caller()
    assert caller() == ((), {})
    assert caller(1, *[2, 3], a=4, **{"b": 5}) == ((1, 2, 3), {"a": 4, "b": 5})
    caller._forms = (lambda a, *rest, b: _core.MISSED,)
    assert caller(1, 2, b=3) == ((1, 2), {"b": 3})
    assert caller(1) == ((1,), {})  # a form has the parameters that its function had once
    caller._forms = (lambda a: len(a),)
    with pytest.raises(TypeError, match="has no len"):
        caller(1)
