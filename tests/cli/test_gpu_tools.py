"""What needs a GPU says so where there is none, before it builds anything."""

import os
import subprocess
import sys

import pytest
from cli_program import ROOT


@pytest.mark.parametrize("script", ["bench", "faults", "sanitize", "test"])
def test_without_a_gpu_a_script_ends_at_once(script):
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHON": sys.executable}
    done = subprocess.run([ROOT / f"tools/gpu/{script}.sh"], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "error: PyTorch sees no GPU on this machine" in done.stderr
