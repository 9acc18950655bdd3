"""build/release/gpu_faults on the stand-ins for CUDA, which run programs on the emulator: faults of the program show there, faults
of the interpreter's sources do not."""

import json
import subprocess

import pytest
from cli_program import PROGRAM

TOOL = PROGRAM.with_name("gpu_faults")


@pytest.fixture
def tool(monkeypatch, tmp_path):
    monkeypatch.setenv("MEGAKITTENS_CUDA_DRIVER", str(TOOL.with_name("libmk_stand_in_driver.so")))
    monkeypatch.setenv("MEGAKITTENS_NVRTC", str(TOOL.with_name("libmk_stand_in_compiler.so")))
    monkeypatch.setenv("MK_STAND_IN", "emulate=1")
    monkeypatch.setenv("MK_COMMIT", "0123456789abcdef")

    def run(*arguments, code=0):
        assert TOOL.exists(), f"{TOOL} is not built; `make build` does it"
        done = subprocess.run([TOOL, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def test_each_fault_gets_a_verdict_on_each_program(tool, tmp_path):
    assert "0 failed" in tool("compile", tmp_path / "builds").stdout
    tool("run", tmp_path / "builds", tmp_path / "faults.json", 4, "arrival-forgotten", "no-fence-behind-gathered-operands", "region-shrunk")
    results = json.loads((tmp_path / "faults.json").read_text())
    assert results["launches"] == 4
    assert results["machine"]["device"] == "stand-in" and results["machine"]["commit"] == "0123456789abcdef"
    verdicts = {}
    for run in results["runs"]:
        verdicts.setdefault(run["fault"], []).append((run["verdict"], run["launches"]))
    assert verdicts == {
        "region-shrunk": [("not in a GPU build", None)],
        "arrival-forgotten": [("expired wait", 1)] * 5,
        "no-fence-behind-gathered-operands": [("not seen", 4)] * 5,
    }


def test_without_the_unfaulted_interpreter_nothing_is_said(tool, tmp_path):
    (tmp_path / "builds").mkdir()
    text = tool("run", tmp_path / "builds", tmp_path / "faults.json", 4, "arrival-forgotten", code=1).stderr
    assert "the unfaulted program" in text and "crashed" in text
    assert not (tmp_path / "faults.json").exists()


def test_a_fault_that_nobody_knows_is_an_error(tool, tmp_path):
    assert "no fault is called 'nonsense'" in tool("run", tmp_path, tmp_path / "faults.json", 4, "nonsense", code=1).stderr
