"""Dynamo's guards (private to PyTorch, written for torch 2.11), taken apart for calls past its frame hook (fast.py): those
that only compare a parameter with the tensor it was are asked together, from tensors' fields, the others as Dynamo asks."""

import dataclasses
from collections.abc import Callable

import torch

from megakittens import _core, compat_tensors

guards = torch._C._dynamo.guards
RELATIONS = {"NO_TENSOR_ALIASING", "OBJECT_ALIASING", "STORAGE_OVERLAPPING", "SYMBOLIC_SHAPE_GUARD"}
STATE = {"LAMBDA_GUARD", "GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK", "DEFAULT_DEVICE"}
NO_HOOKS = "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == None"
MANY = 64  # so many tensors are compared with each other; more are PyTorch's to compare


@dataclasses.dataclass
class Split:
    """What decides whether captured code is right for a call."""

    names: list  # parameters that are one tensor, or a tuple or list of tensors and nothing else
    same: Callable  # whether such tensors, given one after the other, are as they were
    check: Callable | None  # the other guards, of a dictionary with the values of `kept`; None: there are no others
    kept: set
    attributes: tuple = ()  # (module, name, value it has to have)


def split(wrapper, values):
    """Dynamo's guards for a frame with these names and values, for which they hold. In doubt `names` is empty and `check`
    asks all."""
    root = wrapper.root
    everything = Split([], lambda: True, root.check, set(values))
    sources = {f"L[{name!r}]": name for name in values}
    managers = {sources.get(manager.get_source()): manager for manager in root.get_child_managers()}
    names = [name for name, manager in managers.items() if name is not None and _only_tensors(manager, values.get(name))]
    left = [manager for name, manager in managers.items() if name not in names]
    rest = "".join(part for guard in root.get_epilogue_lambda_guards() for part in guard.verbose_code_parts())
    if not names or any(map(_doubtful, left)) or len(managers) != len(root.get_child_managers()):
        return everything
    tensors = [tensor for name in names for tensor in _tensors(values[name])]
    state = _state(root) if not left and not rest else None
    if state is not None:
        return Split(names, tensor_guards(tensors, state), None, set(), DEVICE)
    dropped = {f"L[{name!r}]" for name in names}
    kept = {name for source, name in sources.items() if source not in dropped or source in rest}
    check = root.clone_manager(lambda manager: manager.get_source() not in dropped).check
    return Split(names, tensor_guards(tensors), check, kept)


def _kinds(manager):
    return {type(guard).__name__ for guard in manager.get_leaf_guards()}


def _tensors(value):
    return [value] if isinstance(value, torch.Tensor) else value


def _plain_tensor(manager, value):
    attributes = [part for guard in manager.get_leaf_guards() if type(guard).__name__ == "NO_HASATTR"
                  for part in guard.verbose_code_parts()]  # fmt: skip
    return (
        isinstance(value, torch.Tensor)
        and "TENSOR_MATCH" in _kinds(manager) <= {"TENSOR_MATCH", "NO_HASATTR", "NO_TENSOR_ALIASING"}
        and all("_dynamo_dynamic_indices" in part for part in attributes)
        and not manager.get_child_managers()
    )


def _only_tensors(manager, value):
    if type(value) not in (tuple, list):
        return _plain_tensor(manager, value)
    items = manager.get_child_managers()
    sources = [f"{manager.get_source()}[{number}]" for number in range(len(value))]
    return (
        len(value) > 0
        and _kinds(manager) == {"TYPE_MATCH", "LENGTH_CHECK"}
        and [item.get_source() for item in items] == sources
        and all(map(_plain_tensor, items, value))
    )


def _doubtful(manager):
    return bool(_kinds(manager) & RELATIONS) or manager.is_tag_safe_root() or any(map(_doubtful, manager.get_child_managers()))


DEVICE = ((torch.utils._device, "CURRENT_DEVICE", None),)


def _state(root):
    """Where a root's own guards are those of PyTorch's global state, as it mostly is, the same as questions to PyTorch,
    without the way through Dynamo: with DEVICE, (function, arguments, answer). Else None."""
    leaves = root.get_leaf_guards()
    texts = [part for leaf in leaves if type(leaf).__name__ == "LAMBDA_GUARD" for part in leaf.verbose_code_parts()]
    questions = [
        (guards.GlobalStateGuard().check, (), True),  # as it is now: the guards hold
        (torch._C._len_torch_function_stack, (), 0),
        (torch._C._autograd._top_saved_tensors_default_hooks, (True,), None),
    ]
    usual = (
        {type(leaf).__name__ for leaf in leaves} == STATE
        and all(text.startswith(NO_HOOKS) for text in texts)
        and all(getattr(module, name) is value for module, name, value in DEVICE)
        and all(function(*arguments) is answer for function, arguments, answer in questions)
    )
    return questions if usual else None


def _of_each_kind(tensors):
    """Numbers of tensors, one for each set of dispatch keys; None where fields do not tell enough about them."""
    found = [compat_tensors.fields(tensor) for tensor in tensors]
    if len(tensors) > MANY or not all(each and each["plain"] for each in found):
        return None
    return list({each["keys"]: number for number, each in enumerate(found)}.values())


def _dynamo_check(tensors):
    sizes = [list(tensor.size()) for tensor in tensors]
    strides = [list(tensor.stride()) for tensor in tensors]
    return guards.TensorGuards(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides).check


def tensor_guards(tensors, state=()):
    """A function that says whether so many tensors are like these: class, type, layout, device, gradients, dispatch keys;
    and none given twice. One of each kind is asked Dynamo's way, which looks at the thread's dispatch state too. `state`:
    what else it asks, see _state()."""
    asked = _of_each_kind(tensors)
    if asked is not None:
        return _core.tensor_check(tensors, [_dynamo_check([tensor]) for tensor in tensors], asked, list(state))
    check = _dynamo_check(tensors)
    if not state:
        return check
    return lambda *given: check(*given) and all(function(*arguments) is answer for function, arguments, answer in state)
