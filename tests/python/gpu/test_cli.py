"""The program `megakittens` runs graphs on a GPU, and compares them with the reference."""

import json
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "build/gpu/megakittens"
GRAPH = ROOT / "tests/golden/linear_gelu.mkg.json"


def megakittens(*arguments, code=0):
    assert PROGRAM.exists(), f"{PROGRAM} is not built; tools/gpu/build.sh does it"
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("options", [(), ("--queue", "global"), ("--cluster", 2), ("--sms", 5)])
def test_a_graph_is_right_and_its_launches_are_timed(options):
    found = json.loads(megakittens("run", GRAPH, "--device", "cuda", "--json", *options).stdout)
    assert found["ok"] and found["device"] == "cuda" and found["launch_us"] > 0


def test_a_program_file_runs_on_its_own_machine_only(tmp_path):
    import torch

    sms = torch.cuda.get_device_properties(0).multi_processor_count
    path = tmp_path / "p.mkp"
    megakittens("schedule", GRAPH, "--sms", sms, "-o", path)
    assert "result: equal" in megakittens("run", path, "--device", "cuda", "--graph", GRAPH).stdout
    megakittens("schedule", GRAPH, "--sms", sms + 2, "-o", path)
    assert f"has {sms}" in megakittens("run", path, "--device", "cuda", code=2).stderr


def test_doctor_finds_the_gpu():
    import torch

    assert torch.cuda.get_device_name(0) in megakittens("doctor").stdout
