"""What docs/guides/python.md shows for a GPU works as it stands."""

import pathlib
import sys

import torch
from models import close

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from guide import blocks, run  # noqa: E402


def test_the_example_on_a_gpu(tmp_path, capsys):
    names = run(tmp_path / "guide.py", blocks("# From Python")[0].replace("256", "64"), *blocks("## On a GPU"))
    x, W, b = names["x"], names["W"], names["b"]
    torch.cuda.synchronize()
    for i in range(3):
        x = torch.relu(x @ W[i] + b[i])
    close(names["y"], x)
    assert int(capsys.readouterr().out) > 0
