"""What docs/guides/python.md shows without a GPU works as it stands."""

import torch
from guide import PAGE, blocks, run

import megakittens


def test_the_first_example_and_the_ways_after_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example, through_torch, graph = blocks("# From Python")
    small = example.replace("256", "64")
    defined = "def fn(a, b):\n    return a + b\n"
    names = run(tmp_path / "guide.py", small, defined, through_torch, graph)
    x, W, b = names["x"], names["W"], names["b"]
    want = x
    for i in range(3):
        want = torch.relu(want @ W[i] + b[i])
    torch.testing.assert_close(names["y"].float(), want.float(), rtol=2e-2, atol=2e-2)
    assert (tmp_path / "mlp.mkg.json").exists()


def test_the_table_of_options_is_that_of_the_code():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `") and "**" in line]
    listed = {row.split("`")[1] for row in rows}
    assert listed == set(megakittens.checks.COMPILE_OPTIONS)
