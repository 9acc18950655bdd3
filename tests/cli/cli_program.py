"""The program under test, and how tests call it."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/megakittens"
MLP = ROOT / "tests/golden/mlp_1024_sm100a.mkg.json"

# x = relu(x @ W), small enough for the emulator to take a second.
SMALL = """{"megakittens_graph": 2, "name": "small",
 "values": [{"name": "x", "dtype": "bf16", "shape": [64, 64]}, {"name": "W", "dtype": "bf16", "shape": [64, 64]},
            {"name": "mm", "dtype": "bf16", "shape": [64, 64]}, {"name": "act", "dtype": "bf16", "shape": [64, 64]}],
 "inputs": [0, 1],
 "nodes": [{"op": "matmul", "name": "mm", "operands": [[0], [1]], "outputs": [2], "source": "model.py:3"},
           {"op": "relu", "name": "act", "operands": [[2]], "outputs": [3]}],
 "outputs": [[3]]}"""


def megakittens(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs the program and checks its exit code and that errors go to standard error."""
    assert PROGRAM.exists(), f"{PROGRAM} is not built; `make build` does it"
    command = [PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def error(*arguments: object, code: int = 2) -> str:
    done = megakittens(*arguments, code=code)
    assert done.stdout == ""
    assert done.stderr.startswith("megakittens: ")
    return done.stderr
