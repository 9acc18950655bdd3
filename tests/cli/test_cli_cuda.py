"""megakittens run --device cuda and doctor, with stand-ins for the CUDA driver and NVRTC; and what they say where something
is missing, too old, damaged, or cannot be written."""

import json
import os
import re
import subprocess

import pytest
from cli_program import PROGRAM, error, megakittens

BUILD = PROGRAM.parent


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """machine(sms=4, ...) sets what the stand-in for the driver shows."""

    def show(**settings):
        usual = {"emulate": 1, "emulate_first": 1, "sms": 4}
        monkeypatch.setenv("MK_STAND_IN", ",".join(f"{name}={value}" for name, value in {**usual, **settings}.items()))

    monkeypatch.setenv("MEGAKITTENS_CUDA_DRIVER", str(BUILD / "libmk_stand_in_driver.so"))
    monkeypatch.setenv("MEGAKITTENS_NVRTC", str(BUILD / "libmk_stand_in_compiler.so"))
    monkeypatch.setenv("MEGAKITTENS_CACHE_DIR", str(tmp_path / "cache"))
    show()
    return show


def run(graph, *options, **how):
    return megakittens("run", graph, "--device", "cuda", *options, **how)


def test_a_graph_is_compared_with_the_reference(machine, graph):
    text = run(graph).stdout
    assert "for sm_90a: 4 SMs in clusters of 1" in text
    assert "GPU 0 'stand-in', input seed 1" in text
    assert "result: equal to the reference within tolerance" in text
    assert re.search(r"a launch: \S+ us, of 100 behind each other", text)
    found = json.loads(run(graph, "--json").stdout)
    assert found["ok"] and found["device"] == "cuda" and found["gpu"] == "GPU 0 'stand-in'" and found["launch_us"] > 0


def test_options_of_scheduling_count_and_a_program_is_run_as_it_is(machine, graph, tmp_path):
    assert "2 SMs in clusters of 2, global queue" in run(graph, "--sms", 2, "--cluster", 2, "--queue", "global").stdout
    path = tmp_path / "p.mkp"
    megakittens("schedule", graph, "--sms", 4, "-o", path)
    assert "result: equal" in run(path, "--graph", graph).stdout


def test_a_program_for_another_machine_is_refused(machine, graph, tmp_path):
    path = tmp_path / "p.mkp"
    megakittens("schedule", graph, "--sms", 8, "-o", path)
    assert "made for 8 multiprocessors, GPU 0 'stand-in' has 4" in error("run", path, "--device", "cuda")
    megakittens("schedule", graph, "--target", "sm_100a", "--sms", 4, "-o", path)
    assert "is made for sm_100a, GPU 0 'stand-in' is sm_90a" in error("run", path, "--device", "cuda")


@pytest.mark.parametrize(
    "options, text",
    [
        (("--device", "cuda", "--check", "on"), "--check belongs to --device emulator"),
        (("--device", "cuda", "--schedule-seed", 2), "--schedule-seed belongs to --device emulator"),
        (("--gpu", 0), "--gpu belongs to --device cuda"),
        (("--device", "cuda", "--gpu", 1), "there is no GPU 1: the driver shows 1"),
        (("--device", "tpu"), "unknown device 'tpu'; known are cuda, emulator"),
    ],
)
def test_options_that_do_not_fit_are_refused(machine, graph, options, text):
    assert text in error("run", graph, *options)


def test_the_second_of_two_gpus_is_taken_where_it_is_asked_for(machine, graph):
    machine(devices=2)
    assert "GPU 1 'stand-in'" in run(graph, "--gpu", 1).stdout
    assert len(re.findall(r"GPU +[01] 'stand-in', 4 multiprocessors", megakittens("doctor").stdout)) == 2


@pytest.mark.parametrize(
    "settings, text",
    [
        ({"devices": -1}, r"the CUDA driver does not start: .* \(error 100\)"),
        ({"devices": 0}, "the CUDA driver shows no GPU"),
        ({"major": 8}, r"GPU 0 'stand-in' has compute capability 8.0; programs are made for sm_90a, sm_100a"),
        ({"load_result": 209, "version": 12040}, r"the driver of 'stand-in' \(CUDA 12.4\) is too old for the interpreter"),
        ({"memory": 1000}, "the GPU is out of memory"),
    ],
    ids=["no start", "no GPU", "old GPU", "old driver", "full"],
)
def test_a_machine_that_cannot_is_told_in_words(machine, graph, settings, text):
    machine(**settings)
    assert re.search(text, error("run", graph, "--device", "cuda"))


def test_a_missing_or_old_driver_is_told(machine, graph, monkeypatch):
    monkeypatch.setenv("MEGAKITTENS_CUDA_DRIVER", "/nowhere/libcuda.so.1")
    assert "no CUDA driver: /nowhere/libcuda.so.1 cannot be opened" in error("run", graph, "--device", "cuda")
    assert re.search("driver +none", megakittens("doctor").stdout)
    monkeypatch.setenv("MEGAKITTENS_CUDA_DRIVER", str(BUILD / "libmk_stand_in_compiler.so"))
    assert "the CUDA driver is too old: it lacks cuInit" in error("run", graph, "--device", "cuda")


def test_without_nvrtc_a_cached_interpreter_is_enough_and_nothing_is_not(machine, graph, monkeypatch):
    nvrtc = os.environ["MEGAKITTENS_NVRTC"]
    monkeypatch.setenv("MEGAKITTENS_NVRTC", "/nowhere")
    assert re.search("NVRTC.*/nowhere", error("run", graph, "--device", "cuda"))
    assert "only with an interpreter from the cache" in megakittens("doctor").stdout
    monkeypatch.setenv("MEGAKITTENS_NVRTC", nvrtc)
    run(graph)
    monkeypatch.setenv("MEGAKITTENS_NVRTC", "/nowhere")
    assert "result: equal" in run(graph).stdout
    assert ", 1 compiled" in megakittens("doctor").stdout


def test_a_cache_that_cannot_be_written_costs_a_warning(machine, graph, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MEGAKITTENS_CACHE_DIR", str(tmp_path / "file" / "cache"))
    done = run(graph)
    assert "result: equal" in done.stdout
    assert "the compiled interpreter is not kept, and will be compiled again next time: cannot create" in done.stderr


def test_a_damaged_cache_costs_a_warning(machine, graph, tmp_path):
    run(graph)
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    done = run(graph)
    assert "result: equal" in done.stdout
    assert "is damaged or cannot be read: compiling anew" in done.stderr
    assert run(graph).stderr == ""


def test_another_version_of_the_compiler_compiles_anew(machine, graph, monkeypatch, tmp_path):
    monkeypatch.setenv("MEGAKITTENS_LOG", "info")
    compiled = []
    for version in ("13.0", "13.1", "13.0", "13.1"):
        monkeypatch.setenv("MK_STAND_IN_NVRTC", version)
        compiled += re.findall("compiling the interpreter for sm_90a with (.*)", run(graph).stderr)
    assert compiled == ["nvrtc13.0", "nvrtc13.1"]
    kept = sorted(path.name for path in (tmp_path / "cache").iterdir())
    assert [name.partition("-nvrtc")[2] for name in kept] == ["13.0.cubin", "13.1.cubin"]


def test_processes_that_compile_at_once_leave_one_whole_file(machine, graph, monkeypatch, tmp_path):
    monkeypatch.setenv("MEGAKITTENS_LOG", "info")
    monkeypatch.setenv("MK_STAND_IN_NVRTC_MS", "500")
    command = [PROGRAM, "run", graph, "--device", "cuda"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(6)]
    results = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    for out, err, code in results:
        assert code == 0 and "result: equal to the reference" in out, err
        assert "warning" not in err
    assert sum("compiling the interpreter" in err for _, err, _ in results) > 1, "they did not overlap"
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.suffix == ".cubin"
    monkeypatch.setenv("MEGAKITTENS_NVRTC", "/nowhere")
    assert "result: equal" in run(graph).stdout
