"""What is compiled, as an object: copied, pickled, kept in classes and models, compiled within others, freed."""

import copy
import gc
import pickle
import weakref

import pytest
import torch

import megakittens


def compiled(function=None, **options):
    return megakittens.compile(function, device="reference", **options)


def twice(x):
    return x * 2


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_a_copy_captures_for_itself(duplicate):
    function, module = compiled(twice), compiled(torch.nn.Linear(4, 4).requires_grad_(False))
    for f in (function, module):
        expected = f(torch.ones(2, 4))
        other = duplicate(f)
        assert type(other) is type(f) and not other.executables and not other.graphs
        f.close()
        torch.testing.assert_close(other(torch.ones(2, 4)), expected)
        assert len(other.executables) == 1


def squared(x):
    return x * x


@compiled
def decorated(x):
    return x + 1


class Holder:
    @compiled
    def added(self, x):
        return x + 1


def test_a_decorated_function_is_copied_and_pickled_by_name():
    for f in (decorated, Holder.added):
        assert pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f
    assert pickle.loads(pickle.dumps(Holder().added))(torch.ones(2)).equal(torch.full((2,), 2.0))


def test_a_compiled_function_in_an_attribute_is_part_of_what_is_compiled():
    class Activated(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = compiled(squared)

        def forward(self, x):
            return self.act(x) + 1

    x = torch.randn(4)
    for around in (compiled, lambda module: torch.compile(module, backend="eager", fullgraph=True)):
        torch.testing.assert_close(around(Activated())(x), x * x + 1)


def test_a_function_set_in_a_class_is_a_method_there():
    def forward(self, x):
        return x * self.factor

    class Scaled:
        factor = 3

    Scaled.forward = compiled(forward)
    assert Scaled().forward(torch.ones(2)).equal(torch.full((2,), 3.0))


def test_what_is_compiled_is_freed_with_its_weights():
    references = []
    for called in (False, True):
        for make in (lambda: torch.nn.Linear(4, 4).requires_grad_(False), lambda: lambda x: x + 1):
            original = make()
            f = compiled(original)
            if called:
                f(torch.ones(2, 4))
                f(torch.ones(2, 4))
            references += [weakref.ref(thing) for thing in (f, original, *f.executables)]
            del f, original
    gc.collect()
    assert [reference() for reference in references] == [None] * 10


def test_attributes_of_a_compiled_module_are_the_modules():
    module = torch.nn.Linear(2, 2).requires_grad_(False)
    f = compiled(module)
    f.weight = torch.nn.Parameter(torch.eye(2), requires_grad=False)
    f.note = "kept"
    assert module.weight is f.weight and module.note == "kept" and "note" in dir(f)
    torch.testing.assert_close(f(torch.ones(1, 2)), module(torch.ones(1, 2)))
    del f.note
    assert not hasattr(module, "note")
    f.training = False
    assert not module.training
    for name in ("train", "eval", "half", "float", "cpu"):
        assert getattr(f, name)() is f
    assert isinstance(f, torch.nn.Linear) and repr(f) == f"compiled({module!r})"
    several = compiled(torch.nn.Sequential(torch.nn.ReLU(), module))
    assert len(several) == 2 and several[1] is module and list(several)[1] is module and bool(several)


def test_a_compiled_part_of_a_model_is_in_its_parameters_modes_and_state():
    model = torch.nn.Sequential(compiled(torch.nn.Linear(4, 4)), compiled(torch.nn.Dropout()), torch.nn.Linear(4, 4))
    model.requires_grad_(False).eval().double()
    assert list(model.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert len(list(model.parameters())) == 4 and [name for name, _ in model.named_modules()] == ["", "0", "1", "2"]
    assert not model[1].training and model[0].weight.dtype == torch.float64
    model.float()
    x, again = torch.randn(2, 4), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(), torch.nn.Linear(4, 4))
    again.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(x), again.eval()(x))
    torch.testing.assert_close(compiled(model)(x), model(x))
    assert len(model[0].executables) == 1


class Doubled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = compiled(torch.nn.Linear(4, 4).requires_grad_(False))

    def forward(self, x):
        return self.layer(x) * 2


@pytest.mark.parametrize("around", [compiled, lambda module: torch.compile(module, backend="eager", fullgraph=True)])
@pytest.mark.parametrize("part", [lambda module: module, lambda module: module.forward])
def test_a_compiled_module_within_another_is_part_of_its_graph(around, part):
    model, x = Doubled(), torch.randn(2, 4)
    torch.testing.assert_close(around(part(model))(x), model.layer._mk_original(x) * 2)
    assert not model.layer.executables


def test_a_copied_model_has_what_is_compiled_in_it_for_its_own_weights():
    model = Doubled()
    model.forward = compiled(model.forward)
    expected = model(torch.ones(2, 4))
    other = copy.deepcopy(model)
    other.layer.weight.zero_()
    other.layer.bias.fill_(3)
    torch.testing.assert_close(other(torch.ones(2, 4)), torch.full((2, 4), 6.0))
    torch.testing.assert_close(model(torch.ones(2, 4)), expected)


def test_what_is_compiled_can_be_compiled_anew_and_stays_what_it_is():
    class Holder:
        factor = 3

        @compiled
        @compiled
        def scaled(self, x):
            return x * self.factor

        def twice(module, x):  # noqa: N805
            return x * 2 * module.factor

        free = compiled(twice)

    assert Holder().scaled(torch.ones(2)).equal(torch.full((2,), 3.0))
    assert Holder().free(torch.ones(2)).equal(torch.full((2,), 6.0))
    module = compiled(compiled(torch.nn.Linear(2, 2)), fusion=False)
    assert isinstance(module, torch.nn.Linear) and not module._mk_settings["fusion"]
    torch.nn.Sequential(module, torch.nn.ReLU())


def test_a_modules_own_names_are_its_own():
    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.type, self.half, self._function, self._closed = "encoder", 0.5, 2.0, True

        def forward(self, x):
            return x * self._function * self.half

    f = compiled(Named())
    assert (f.type, f.half, f._function, f._closed) == ("encoder", 0.5, 2.0, True)
    assert f(torch.ones(2)).equal(torch.ones(2))
    f._function = 6.0
    assert f(torch.ones(2)).equal(torch.full((2,), 3.0))
    assert not hasattr(copy.copy(f), "extra")
    copy.copy(f).extra = 1
    assert not hasattr(f, "extra")

