"""The program that `.save()` writes runs from the command line, on stand-ins for the CUDA driver and NVRTC."""

import os
import subprocess

import torch
from stand_in import BUILD, gpu

import megakittens

__all__ = ["gpu"]


def mlp(x, W, b):
    for i in range(3):
        x = torch.relu(x @ W[i] + b[i])
    return x


def test_the_saved_program_runs_from_the_command_line_and_is_right(gpu, tmp_path):
    program, graph = tmp_path / "mlp.mkp", tmp_path / "mlp.mkg.json"
    f = megakittens.compile(mlp)
    f(*[torch.randn(size).bfloat16() for size in ((64, 64), (3, 64, 64), (3, 64, 64))])
    f.save(str(program))
    f.graphs[0].save(str(graph))
    environment = {**os.environ, "MK_STAND_IN": "emulate=1,emulate_first=1,sms=132"}  # as `gpu` has it
    command = [BUILD / "megakittens", "run", program, "--graph", graph, "--device", "cuda"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "132 SMs" in done.stdout and "GPU 0 'stand-in'" in done.stdout
    assert "result: equal to the reference within tolerance" in done.stdout
