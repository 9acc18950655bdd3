"""Tests that need a GPU: without one they skip, or fail where MEGAKITTENS_REQUIRE_GPU is set."""

import os
import pathlib

import pytest


def pytest_collection_modifyitems(items):
    here = pathlib.Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(autouse=True)
def gpu_or_skip():
    import torch

    problem = ""
    if not torch.cuda.is_available():
        problem = "PyTorch sees no GPU"
    elif torch.cuda.get_device_capability() not in ((9, 0), (10, 0)):
        problem = f"compute capability {torch.cuda.get_device_capability()}; 9.0 or 10.0 is needed"
    if problem and os.environ.get("MEGAKITTENS_REQUIRE_GPU") == "1":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


@pytest.fixture(autouse=True)
def isolation(gpu_or_skip):
    """What one test did to the GPU's state does not reach the next."""
    yield
    import torch

    torch.cuda.synchronize()
    torch._dynamo.reset()
    try:
        torch.rand(1, device="cuda")
    except RuntimeError:
        # A capture that failed leaves PyTorch's generator believing that it goes on: a fresh state forgets it.
        fresh = torch.Generator("cuda")
        torch.cuda.default_generators[torch.cuda.current_device()].graphsafe_set_state(fresh.graphsafe_get_state())
        torch.rand(1, device="cuda")
