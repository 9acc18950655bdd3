"""A launch that cannot end gives up: the error names the wait, its results are NaN, and the next call is right."""

import pytest
import torch
from models import close, inputs, mlp

import megakittens


def test_after_a_launch_gave_up_its_results_are_nan_and_the_next_call_is_right(monkeypatch):
    monkeypatch.setenv("MEGAKITTENS_WAIT_LIMIT_MS", "200")
    args = inputs(512, 512)
    f = megakittens.compile(mlp)
    good = f(*args)
    f.synchronize()
    kept = good.clone()
    engine = f.executables[0].engine
    engine.native.plant_fault()
    bad = f(*args)
    with pytest.raises(megakittens.ExecutionError, match=r"gave up on GPU 0: .* of node '.*' waited too long for"):
        f.synchronize()
    assert bad.isnan().all()
    assert torch.equal(good, kept)
    again = f(*args)
    f.synchronize()
    close(again, mlp(*args))
