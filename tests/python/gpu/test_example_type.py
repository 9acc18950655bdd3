"""The example of docs/guides/instruction-types.md on a GPU, unchanged: an interpreter of its own, compiled once."""

import pathlib
import sys

import pytest
import torch
from models import close, in_fp32

import megakittens
from megakittens import _core

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples/rms_norm"))
import rms_norm as example  # noqa: E402


@pytest.fixture(autouse=True)
def registered():
    if "rms_norm" not in _core.registered_types():
        megakittens.register(example.RmsNorm)


def test_the_example_runs_on_a_gpu():
    torch.manual_seed(1)
    x, W = torch.randn(2048, 1000, device="cuda").bfloat16(), torch.randn(1000, 512, device="cuda").bfloat16() / 32
    weight = torch.rand(1000, device="cuda").bfloat16()

    def block(x, weight, W):
        return torch.relu(example.rms_norm(x, weight) @ W)

    y = example.block(x, weight, W)
    example.block.synchronize()
    close(y, block(x, weight, W), reference=in_fp32(block, x, weight, W))


def test_another_model_with_the_type_compiles_nothing():
    @megakittens.compile
    def f(x, weight):
        return example.rms_norm(example.rms_norm(x, weight) + x, weight)

    x, weight = torch.randn(3, 77, 4096, device="cuda").half(), torch.rand(4096, device="cuda").half()
    example.block(torch.randn(64, 64, device="cuda"), torch.rand(64, device="cuda"), torch.randn(64, 64, device="cuda"))
    before = _core.compilation_count()
    y = f(x, weight)
    for _ in range(20):
        again = f(x, weight)
    f.synchronize()
    assert torch.equal(y, again)
    close(y, example.rms_norm(example.rms_norm(x, weight) + x, weight))
    assert _core.compilation_count() == before
