"""Tensors that share memory, or whose memory is not what it was when the function was captured."""

import pytest
import torch

import megakittens
from megakittens.errors import UnsupportedError, UserError


def test_inputs_that_are_only_read_may_share_memory():
    q, k, v = torch.randn(4, 48).chunk(3, -1)
    f = megakittens.compile(lambda q, k, v: q * k + v, check=True)
    torch.testing.assert_close(f(q, k, v), q * k + v)
    z = torch.randn(4, 32)
    g = megakittens.compile(lambda a, b: a - b, check=True)
    torch.testing.assert_close(g(z[1:], z[:-1]), z[1:] - z[:-1])


def test_a_weight_with_other_strides_or_type_is_an_error_and_no_wrong_value():
    module = torch.nn.Linear(4, 4, bias=False).requires_grad_(False)
    f, x = megakittens.compile(module), torch.ones(2, 4)
    f(x)
    module.weight.data = torch.arange(16.0).view(4, 4).t()
    with pytest.raises(UserError, match=r"'weight' was f32\[4, 4\] with strides \[4, 1\] .* strides \[1, 4\] now"):
        f(x)
    module.weight.data = torch.eye(4).half()
    with pytest.raises(UserError, match=r"'weight' .* and is f16\[4, 4\]"):
        f(x)


def test_a_lazily_negated_input_is_refused():
    x = torch.randn(3, 4, dtype=torch.complex64).conj().imag
    with pytest.raises(UnsupportedError, match="resolve_neg"):
        megakittens.compile(lambda a: a * 2)(x)


@pytest.mark.parametrize("device", ["emulator", "reference"])
def test_empty_tensors_run_everywhere(device):
    assert megakittens.compile(lambda a: a + 1, device=device)(torch.empty(0, 4)).shape == (0, 4)
