"""What may change between calls without a guard of Dynamo's seeing it: gradients asked for later, tangents, a class's forward,
hooks of all modules, a function's parameters; and that close() and synchronize() look at every shape."""

import pytest
import torch
from stand_in import gpu
from test_fast_calls import expect, no_gradients, plain, x

import megakittens

__all__ = ["expect", "gpu", "no_gradients"]


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.full((16,), 3.0), requires_grad=False)

    def forward(self, a, k=2.0):
        return a * self.w * k


def test_a_weight_that_wants_a_gradient_since_is_refused(expect):
    with torch.enable_grad():
        module = Scaled()
        f = megakittens.compile(module)
        for fast in (False, True):
            expect(f, module, x(), fast=fast)
        module.requires_grad_(True)
        with pytest.raises(megakittens.UnsupportedError, match="'(L.self.)?w' requires grad"):
            f(x())
        module.requires_grad_(False)
        expect(f, module, x(), fast=True)
    module.requires_grad_(True)
    for _ in range(2):
        expect(f, module, x())  # without gradients


def test_tangents_are_refused(expect):
    f, a = megakittens.compile(plain), x()
    expect(f, plain, a, x())
    expect(f, plain, a, x(), fast=True)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(a, x())
        for g in (f, megakittens.compile(plain)):
            with pytest.raises(megakittens.UnsupportedError, match="'a' has a tangent"):
                g(dual, x())
        expect(f, plain, a, x(), fast=False)
    expect(f, plain, a, x(), fast=True)


def test_another_forward_of_the_class_counts(expect):
    class Module(Scaled):
        def forward(self, a, k=2.0):
            return a * k

    module, a = Module(), x()
    f = megakittens.compile(module)

    def twice():
        expect(f, module, a, fast=False)
        expect(f, module, a, fast=True)

    twice()
    Module.forward.__defaults__ = (5.0,)
    twice()
    Module.forward = lambda self, a, k=2.0: a * 11
    twice()
    Module.forward.__code__ = (lambda self, a, k=2.0: a - k).__code__
    twice()
    assert len(f.executables) == 1


def test_hooks_of_all_modules_count_while_they_are_there(expect):
    module, a = Scaled(), x()
    f = megakittens.compile(module)
    for fast in (False, True):
        expect(f, module, a, fast=fast)
    for register in (
        lambda: torch.nn.modules.module.register_module_forward_hook(lambda module, given, result: result * 2),
        lambda: torch.nn.modules.module.register_module_forward_pre_hook(lambda module, given: (given[0] + 1,)),
    ):
        handle = register()
        for _ in range(2):
            expect(f, module, a, fast=False)
        handle.remove()
        for fast in (False, True):
            expect(f, module, a, fast=fast)


def test_other_defaults_and_parameters_of_a_function_count(expect):
    def g(a, s):
        return a * s

    def h(a, b):
        return a + b

    f, a = megakittens.compile(g), x()
    for fast in (False, True):
        expect(f, g, a, 2.0, fast=fast)
    g.__defaults__ = (3.0,)
    for fast in (False, True):
        expect(f, g, a, fast=fast)
    g.__code__ = h.__code__
    for fast in (False, True):
        expect(f, g, a, x(), fast=fast)
    g.__defaults__ = None
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 's'|missing 1 required .*: 'b'"):
        f(a)


def test_close_tells_of_a_launch_that_gave_up_and_every_shape_is_looked_at(gpu):
    def g(a, b):
        return (a @ b) @ b

    for end in ("close", "synchronize"):
        f = megakittens.compile(g)
        for rows in (8, 16):
            f(x(rows, 16), x(16, 16))
        for executable in f.executables:
            executable.engine.native.plant_fault()
        for rows in (8, 16):
            f(x(rows, 16), x(16, 16))
        with pytest.raises(megakittens.ExecutionError, match="gave up"):
            getattr(f, end)()
        f.synchronize()
        if end == "close":
            f.close()
            with pytest.raises(megakittens.UserError, match="was closed"):
                f(x(8, 16), x(16, 16))
        else:
            torch.testing.assert_close(f(x(8, 16), torch.zeros(16, 16)), torch.zeros(8, 16))
