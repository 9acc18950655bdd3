"""Calls past Dynamo's frame hook: used where nothing has changed, and right whatever has."""

import contextlib
import threading

import pytest
import torch
from stand_in import gpu

import megakittens

__all__ = ["gpu"]


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@pytest.fixture
def expect(gpu):
    """expect(f, g, *args, fast=...): f and g give the same, and f's call was or was not fast (None: either)."""

    def check(f, g, *args, fast=None, **kwargs):
        before = gpu.fast_calls
        ours = f(*args, **kwargs)
        was_fast = gpu.fast_calls > before
        torch.testing.assert_close(ours, g(*args, **kwargs))
        assert fast is None or fast == was_fast, args
        return ours

    return check


def x(*sizes, **kwargs):
    return torch.randn(*(sizes or (8, 16)), **kwargs)


def test_the_second_call_and_all_later_ones_are_fast(gpu, expect):
    def g(a, b):
        return a + b

    f = megakittens.compile(g)
    expect(f, g, x(), x(), fast=False)
    for _ in range(3):
        launches = gpu.count("cuLaunchKernelEx")
        expect(f, g, x(), x(), fast=True)
        assert gpu.count("cuLaunchKernelEx") == launches + 1


def test_every_kind_of_parameter_and_result(expect):
    def g(a, /, b, scale=2.0, *rest, shift, **more):
        total = a + b["one"] * scale + b["two"][0] + shift
        for one in rest:
            total = total + one
        for one in more.values():
            total = total - one
        return {"total": total, "pair": (total * 2, [total + 1, None, 3])}

    f = megakittens.compile(g)
    for fast in (False, True, True):
        expect(f, g, x(), {"one": x(), "two": [x()]}, 3.0, x(), x(), shift=x(), last=x(), fast=fast)
    expect(f, g, x(), {"one": x(), "two": [x()]}, shift=x(), fast=False)
    expect(f, g, x(), shift=x(), b={"one": x(), "two": [x()]}, fast=True)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'shift'"):
        f(x(), {})


SCALE = 2.0
OFFSETS = {"a": 1.0}


def test_a_changed_global_is_noticed(expect, monkeypatch):
    def g(a):
        return a * SCALE + OFFSETS["a"]

    f = megakittens.compile(g)
    expect(f, g, x())
    expect(f, g, x(), fast=True)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    expect(f, g, x(), fast=False)
    expect(f, g, x(), fast=True)
    monkeypatch.setitem(OFFSETS, "a", 7.0)
    expect(f, g, x(), fast=False)
    expect(f, g, x(), fast=True)


def test_a_changed_closure_is_noticed(expect):
    scale, bias = 2.0, x()

    def g(a):
        return a * scale + bias

    f = megakittens.compile(g)
    expect(f, g, x())
    expect(f, g, x(), fast=True)
    scale = 3.0
    expect(f, g, x(), fast=False)
    bias = x()
    expect(f, g, x())
    bias = x(1, 16)
    expect(f, g, x(), fast=False)
    del bias
    with pytest.raises((NameError, megakittens.UnsupportedError)):
        f(x())


def test_changed_defaults_and_code_are_noticed(expect):
    def g(a, scale=2.0, *, shift=1.0):
        return a * scale + shift

    def other(a, scale=2.0, *, shift=1.0):
        return a - scale * shift

    f = megakittens.compile(g)
    expect(f, g, x())
    expect(f, g, x(), fast=True)
    g.__defaults__ = (4.0,)
    expect(f, g, x(), fast=False)
    g.__kwdefaults__ = {"shift": 9.0}
    expect(f, g, x(), fast=False)
    g.__kwdefaults__["shift"] = 10.0
    expect(f, g, x(), fast=False)
    g.__code__ = other.__code__
    expect(f, g, x(), fast=False)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(x(16), requires_grad=False)
        self.register_buffer("mean", x(16))
        self.scale = 2.0

    def forward(self, a):
        a = a * self.weight * self.scale - self.mean
        return a + 1 if self.training else a


@pytest.fixture
def layer(expect):
    module = Layer()
    f = megakittens.compile(module)
    expect(f, module, x())
    expect(f, module, x(), fast=True)
    return f, module


def change_attribute(module):
    module.scale = 3.0


def change_forward(module):
    module.forward = lambda a: a * 3 + module.weight


def add_hook(module):
    module.register_forward_hook(lambda module, args, result: result * 2)


def add_pre_hook(module):
    module.register_forward_pre_hook(lambda module, args: (args[0] + 1,))


def replace_by_wider(module):
    module.weight = torch.nn.Parameter(x(8, 16), requires_grad=False)


@pytest.mark.parametrize("change", [change_attribute, change_forward, torch.nn.Module.eval, add_hook, add_pre_hook, replace_by_wider])
def test_a_changed_module_is_noticed(expect, layer, change):
    f, module = layer
    change(module)
    expect(f, module, x(), fast=False)


def test_new_weights_are_used_at_once(expect, layer):
    f, module = layer
    module.weight.mul_(2)
    expect(f, module, x(), fast=True)
    module.weight.data = x(16)
    expect(f, module, x(), fast=True)
    module.weight = torch.nn.Parameter(x(16), requires_grad=False)
    expect(f, module, x(), fast=True)
    module.mean = x(16)
    expect(f, module, x(), fast=True)
    module.load_state_dict(Layer().state_dict())
    expect(f, module, x(), fast=True)
    module.weight.data = x(32)[::2]
    with pytest.raises(megakittens.UserError, match="was replaced"):
        f(x())


def test_a_removed_hook_leaves_calls_fast_again(expect, layer):
    f, module = layer
    handle = module.register_forward_hook(lambda module, args, result: result * 2)
    expect(f, module, x(), fast=False)
    handle.remove()
    expect(f, module, x(), fast=True)


def plain(a, b):
    return a * 2 + b


@pytest.fixture
def ready(expect):
    """`plain`, compiled and fast."""
    f = megakittens.compile(plain)
    expect(f, plain, x(), x())
    expect(f, plain, x(), x(), fast=True)
    return f


def test_other_tensors_than_those_captured_are_not_fast(expect, ready):
    good = x()
    for a, b in [
        (x(16), x()),
        (x(4, 16), x(4, 16)),
        (x(16, 8).t(), good),
        (good.half(), good.half()),
        (good, good),
        (x(8, 32)[:, ::2], good),
        (torch.nn.Parameter(x(), requires_grad=False), good),
        (x().requires_grad_(), good),
    ]:
        expect(ready, plain, a, b, fast=False)
    expect(ready, plain, x(), x(), fast=True)


def test_misaligned_tensors_are_copied(expect, ready):
    whole = x(129)
    expect(ready, plain, whole[1:].view(8, 16), x(), fast=False)


def test_lazily_negated_tensors_are_refused(ready):
    with pytest.raises(megakittens.UnsupportedError, match="resolve_neg"):
        ready(torch._neg_view(x()), x())


def test_meta_sparse_and_foreign_tensors_take_the_usual_way(gpu, ready):
    before = gpu.fast_calls
    for bad in (x().to("meta"), x().to_sparse(), 3.0, None, "text", [x()]):
        try:
            ready(bad, x())
        except Exception as error:
            assert not isinstance(error, megakittens.errors.InternalError), bad
    assert gpu.fast_calls == before


class Named(torch.Tensor):
    pass


def test_subclasses_of_tensor_are_not_fast(gpu, expect, ready):
    before = gpu.fast_calls
    with contextlib.suppress(megakittens.Error):
        torch.testing.assert_close(ready(x().as_subclass(Named), x()).shape, (8, 16))
    assert gpu.fast_calls == before


class DispatchMode(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class FunctionMode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "mode",
    [
        lambda: torch.autocast("cpu", torch.bfloat16),
        torch.inference_mode,
        torch.enable_grad,
        lambda: torch.device("meta"),
        DispatchMode,
        FunctionMode,
        lambda: torch.compiler.set_stance("force_eager"),
        lambda: torch.autograd.graph.saved_tensors_hooks(lambda a: a, lambda a: a),
    ],
    ids=["autocast", "inference", "grad", "device", "dispatch", "function", "stance", "hooks"],
)
def test_another_mode_is_noticed(gpu, expect, ready, mode):
    a, b = x(), x()
    with mode():
        try:
            result = expect(ready, plain, a, b)
        except megakittens.Error:
            result = None
    if result is not None:
        assert result.is_inference() == (mode is torch.inference_mode)
    expect(ready, plain, x(), x(), fast=True)


def test_the_default_dtype_is_noticed(expect):
    def g(a):
        return a + torch.ones(16)

    f = megakittens.compile(g)
    expect(f, g, x())
    expect(f, g, x(), fast=True)
    torch.set_default_dtype(torch.float16)
    try:
        expect(f, g, torch.ones(8, 16, dtype=torch.float32), fast=False)
    finally:
        torch.set_default_dtype(torch.float32)


def test_an_input_that_requires_grad_in_grad_mode_is_refused(ready):
    with torch.enable_grad(), pytest.raises(megakittens.UnsupportedError, match="requires grad"):
        ready(x().requires_grad_(), x())


def test_vmap_grad_and_fake_tensors_take_the_usual_way(gpu, ready):
    before = gpu.fast_calls
    from torch._subclasses.fake_tensor import FakeTensorMode

    def grad():
        return torch.func.grad(lambda a: ready(a, x()).sum())(x())

    def vmap():
        return torch.func.vmap(ready)(x(3, 8, 16), x(3, 8, 16))

    def fake():
        with FakeTensorMode() as mode:
            return ready(mode.from_tensor(x()), mode.from_tensor(x()))

    for call in (grad, vmap, fake):
        try:
            call()
        except Exception as error:
            assert not isinstance(error, megakittens.errors.InternalError)
    assert gpu.fast_calls == before


def test_compiled_functions_work_inside_torch_compile(gpu, expect, ready):
    def around(a, b):
        return ready(a, b) - 1

    expect(torch.compile(around, backend="eager"), lambda a, b: plain(a, b) - 1, x(), x())
    expect(ready, plain, x(), x(), fast=True)


def test_an_input_that_is_written_counts_as_changed(gpu, expect):
    def g(a, b):
        a.mul_(2)
        return a + b

    f = megakittens.compile(g)
    ours, b = x(), x()
    theirs = ours.clone()
    for fast in (False, True, True):
        before, version = gpu.fast_calls, ours._version
        torch.testing.assert_close(f(ours, b), g(theirs, b))
        torch.testing.assert_close(ours, theirs)
        assert (gpu.fast_calls > before) == fast and ours._version > version
    whole = x(12, 16)
    with pytest.raises(megakittens.UserError, match="overlaps"):
        f(whole[:8], whole[4:])


def test_python_side_effects_happen_at_every_call(expect):
    seen = []

    def g(a):
        seen.append(len(seen))
        return a + 1

    f = megakittens.compile(g)
    for _ in range(3):
        f(x())
    assert seen == [0, 1, 2]


def test_results_that_are_inputs_or_views_of_them_are_right(expect):
    def g(a, b):
        return a, a[2:], a + b, b.t()

    f = megakittens.compile(g)
    for _ in range(3):
        a, b = x(), x()
        results = expect(f, g, a, b)
        assert results[0] is a and results[1].data_ptr() == a[2:].data_ptr() and results[3].data_ptr() == b.data_ptr()


def test_reused_outputs_are_the_same_tensor_and_others_are_not(expect):
    f, g = megakittens.compile(plain, reuse_outputs=True), megakittens.compile(plain)
    first = f(x(), x())
    assert expect(f, plain, x(), x(), fast=True).data_ptr() == first.data_ptr()
    kept = [g(x(), x()) for _ in range(4)]
    assert len({tensor.data_ptr() for tensor in kept}) == 4


def test_many_shapes_stay_right(expect):
    f = megakittens.compile(plain)
    for _ in range(2):
        for rows in range(1, 13):
            expect(f, plain, x(rows, 16), x(rows, 16))
    for rows in (12, 3, 3, 7):
        expect(f, plain, x(rows, 16), x(rows, 16), fast=True)


def test_threads_may_call_at_once(gpu, ready):
    wrong = []

    def work(seed):
        with torch.no_grad():
            for _ in range(20):
                a, b = torch.full((8, 16), float(seed)), x()
                if not torch.equal(ready(a, b), plain(a, b)):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_after_a_reset_of_dynamo_calls_are_captured_anew(expect, ready):
    torch._dynamo.reset()
    expect(ready, plain, x(), x(), fast=False)
    expect(ready, plain, x(), x(), fast=True)


def test_close_and_memory_errors_are_told_as_ever(gpu, expect, ready, monkeypatch):
    gpu.set("launch_result", 2)
    with pytest.raises(megakittens.CapacityError, match="out of memory"):
        ready(x(), x())
    gpu.set("launch_result", 0)
    expect(ready, plain, x(), x(), fast=True)
    ready.close()
    with pytest.raises(megakittens.UserError, match="was closed"):
        ready(x(), x())


def test_a_launch_that_gave_up_is_told_by_the_next_fast_call(gpu, expect):
    def g(a, b):
        return (a @ b) @ b

    a, b = x(64, 64), x(64, 64)
    f = megakittens.compile(g)
    f(a, b)
    f.executables[0].engine.native.plant_fault()
    before = gpu.fast_calls
    bad = f(a, b)
    with pytest.raises(megakittens.ExecutionError, match="Results of the calls since then are worthless"):
        f(a, b)
    assert bad.isnan().all()
    f(a, b)
    assert gpu.fast_calls == before + 2


class Holder:
    def __init__(self, scale):
        self.scale = scale

    def twice(self, a):
        return a * self.scale + a

    decorated = megakittens.compile(twice)


def test_methods_follow_their_objects(expect):
    one, two = Holder(2.0), Holder(5.0)
    for holder in (one, two, one, two):
        expect(holder.decorated, holder.twice, x())
    expect(one.decorated, one.twice, x(), fast=True)
    expect(two.decorated, two.twice, x(), fast=True)
    one.scale = 7.0
    expect(one.decorated, one.twice, x(), fast=False)
    bound = megakittens.compile(two.twice)
    for _ in range(3):
        expect(bound, two.twice, x(), fast=False)


def test_an_object_that_died_is_not_confused_with_one_in_its_place(expect):
    def g(a, holder):
        return holder.twice(a)

    f = megakittens.compile(g)
    for scale in (2.0, 3.0, 2.0, 4.0):
        holder = Holder(scale)
        expect(f, g, x(), holder)
        del holder


def test_two_compiled_forms_of_one_function_do_not_meet(expect):
    f, g = megakittens.compile(plain), megakittens.compile(plain, fusion=False)
    for fast in (False, True):
        expect(f, plain, x(), x(), fast=fast)
        expect(g, plain, x(), x(), fast=fast)
    assert f.executables != g.executables and len(f.executables) == len(g.executables) == 1
