"""What is private to PyTorch about a tensor (written for torch 2.11): its class's C++ fields, which a call reads without
calling PyTorch (python/src/torch_tensor.hpp)."""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from megakittens import _core

CLASSES = (torch.Tensor, torch.nn.Parameter)


def fields(tensor):
    """What is read of a tensor; None where nothing may be."""
    return _core.tensor_fields(tensor, tensor.element_size()) if READABLE and type(tensor) in CLASSES else None


def _as_told(tensor):
    """Whether what is read of a tensor is what PyTorch says."""
    found = _core.tensor_fields(tensor, tensor.element_size())
    return (
        found["place"] == tensor._cdata
        and found["keys"] == torch._C._dispatch_keys(tensor).raw_repr()
        and found["device"] == ({"cpu": 0, "cuda": 1}[tensor.device.type], -1 if tensor.device.index is None else tensor.device.index)
        and (found["sizes"], found["strides"]) == (list(tensor.size()), list(tensor.stride()))
        and (found["autograd"] or not tensor.requires_grad)
        and (not found["plain"] or found["address"] == tensor.data_ptr())
    )


def _readable():
    if not torch.__version__.startswith("2.11."):
        return False
    modes = (torch._C.DisableTorchFunction(), torch.inference_mode(False), _disable_current_modes())
    with modes[0], modes[1], modes[2]:
        plain = [torch.empty(2, 3, dtype=dtype) for dtype in (torch.bool, torch.int32, torch.int64, torch.float16, torch.float64)]
        plain += [torch.empty(2, 3, 4)[:, 1:], torch.empty(2, 3, 4, 5, 6, 7)[:, 1:].mT, torch.empty(0, 3), torch.empty(())]
        plain += [torch.nn.Parameter(torch.empty(2)), torch._neg_view(torch.empty(2)), torch.empty(5).requires_grad_()[2:]]
        plain += [torch.empty(3), torch.empty(3, dtype=torch.bfloat16)]
        special = [torch._lazy_clone(torch.empty(2)), torch.empty(2).to_sparse()]
        numbers = [_core.tensor_fields(tensor, 1)["dtype"] for tensor in plain[:5]]
        return (
            all(type(tensor) in CLASSES for tensor in plain + special)
            and all(_as_told(tensor) for tensor in plain)
            and all(_core.tensor_fields(tensor, 1)["plain"] for tensor in plain)
            and not any(_core.tensor_fields(tensor, 1)["plain"] for tensor in special)
            and numbers == [11, 3, 4, 5, 7]
        )


READABLE = _readable()


def kinds(dtypes, device):
    """How fields show dense tensors on a device: ({dtype: its number}, number of the device, the key sets that such tensors
    may have); None where tensors are not to be read."""
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        with torch.inference_mode(False):
            normal = {dtype: torch.empty(0, dtype=dtype, device=device) for dtype in {torch.float32, *dtypes}}
        with torch.inference_mode():
            inference = torch.empty(0, dtype=torch.float32, device=device)
        shown = [*normal.values(), inference]
        if not READABLE or any(type(tensor) is not torch.Tensor or not _as_told(tensor) for tensor in shown):
            return None
        if not all(fields(tensor)["plain"] for tensor in shown):  # a functorch transform is under way
            return None
        found = {dtype: fields(tensor) for dtype, tensor in normal.items()}
        one = found[torch.float32]
        return {dtype: each["dtype"] for dtype, each in found.items()}, one["device"], [one["keys"], fields(inference)["keys"]]
