"""docs/performance.md is made from the recorded results, and says what they say."""

import importlib.util
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def script(path):
    """A script of bench/ as a module."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


report, record_tests = script("bench/report.py"), script("bench/gpu/record_tests.py")
limits = script("bench/limits.py")

SAMPLE = {
    "machine": {"device": "NVIDIA H200", "multiprocessors": 132, "driver": "580.1", "cuda": "13.0", "torch": "2.11.0",
                "megakittens": "0.1.0", "commit": "0123456789abcdef", "date": "2026-11-29"},
    "workload": "mlp_1024",
    "called_us": {"eager": 119.0, "torch.compile": 244.4, "torch.compile reduce-overhead": 110.0, "megakittens": 27.5},
    "host_us": {"eager": 60.0, "megakittens": 9.04},
    "replayed_us": {"eager": 26.0, "torch.compile": 22.4, "megakittens": 16.0},
    "replayed_rotated_us": {"eager": 30.0, "torch.compile": 33.0, "megakittens": 40.0},
    "errors": {"called eager": 0.004, "called megakittens": 0.0041, "graph megakittens": 0.0041},
    "largest_errors": {"called eager": 0.03, "called megakittens": 0.031},
    "right": True,
}  # fmt: skip


def test_the_committed_page_is_that_of_the_committed_results():
    assert report.PAGE.read_text() == report.page(report.load(report.RESULTS)), "run `python bench/report.py`"


def test_a_result_becomes_rows(tmp_path):
    (tmp_path / "h200-mlp_1024.json").write_text(json.dumps(SAMPLE))
    (tmp_path / "schedule.json").write_text(json.dumps({"context": {}, "benchmarks": []}))
    text = report.page(report.load(tmp_path))
    assert "NVIDIA H200, 132 multiprocessors, driver 580.1, CUDA 13.0, PyTorch 2.11.0; megakittens 0.1.0 at `0123456789ab`" in text
    assert "| mlp_1024 | 119 | 244 | 110 | - | **27.5** | 4.00 | 9.0 |" in text
    assert "| mlp_1024 | 22.4 (Inductor) | **16.0** | 1.40 | 30.0 (eager) | **40.0** | 0.75 |" in text
    assert "| mlp_1024 | 30 (4.00) | - | - | - | 31 (4.10) | - (4.10) |" in text
    assert "WRONG" not in text


def test_a_wrong_result_is_called_so(tmp_path):
    (tmp_path / "h200-mlp.json").write_text(json.dumps({**SAMPLE, "right": False}))
    assert "| mlp_1024 **WRONG** | 119 |" in report.page(report.load(tmp_path))


def test_the_interpreters_own_cost_becomes_rows(tmp_path):
    costs = {"launch": 2100, "noop": 271.4, "hand_off": 1500, "tile": 900.0, "tile_of_changing_nodes": 950.0, "node": 50}
    costs["node_of_map_in_memory"] = 260
    (tmp_path / "h200-costs.json").write_text(json.dumps({"machine": SAMPLE["machine"], "costs_ns": costs}))
    alone = report.page(report.load(tmp_path))
    assert "as the seed does | 900 |" in alone and "| a launch without instructions | 2100 |" in alone and "As called:" not in alone
    (tmp_path / "h200-mlp_1024.json").write_text(json.dumps(SAMPLE))
    assert "16 tensors behind others" not in alone
    call = {"best_core": 8.51, "slowest_core": 12.3, "cores": 16}
    (tmp_path / "h200-costs.json").write_text(
        json.dumps({"machine": SAMPLE["machine"], "costs_ns": costs, "call_16_tensors_us": call})
    )
    both = report.page(report.load(tmp_path))
    assert "a call of 16 tensors behind others, its launch included, in the best round, on the best of 16 cores | 8510 |" in both
    assert "in the best round, on the slowest of them | 12300 |" in both
    assert "1,000 behind each other on every SM | 271 |" in both and both.count("## NVIDIA H200") == 1


def test_the_committed_results_keep_every_limit():
    results = report.load(report.RESULTS)
    assert len(limits.held(results)) == len(limits.LIMITS) and limits.missed(results) == []


def test_what_misses_a_limit_is_named(tmp_path):
    slow = {**SAMPLE, "replayed_us": {**SAMPLE["replayed_us"], "megakittens": 23.6}}
    assert limits.missed([SAMPLE]) == []
    assert limits.missed([slow]) == ["mlp_1024: per replay, by Inductor's graph: 1.054, may be 1.05"]
    (tmp_path / "h200-mlp_1024.json").write_text(json.dumps(slow))
    text = report.page(report.load(tmp_path))
    assert "| mlp_1024 | per replay, by Inductor's graph | 1.054 | **1.05** |" in text
    assert "| mlp_1024 | as called, by the best torch.compile call | 0.250 | 0.4 |" in text
    other = {**slow, "machine": {**SAMPLE["machine"], "device": "NVIDIA H100"}}
    assert limits.missed([other]) == [] and limits.held([other]) == []


def test_a_run_of_the_gpus_tests_becomes_a_line(tmp_path):
    counts = {"CTest": {"passed": 58, "failed": 0, "skipped": 0}, "pytest": {"passed": 43, "failed": 1, "skipped": 2}}
    (tmp_path / "h200-tests.json").write_text(json.dumps({"machine": SAMPLE["machine"], "gpus": 1, "tests": counts, "told": ["3 layers: 2.0 ms"]}))
    (tmp_path / "h200-mlp_1024.json").write_text(json.dumps(SAMPLE))
    text = report.page(report.load(tmp_path))
    line = text.split("\n## Tests\n\n")[1]
    assert line.startswith("`make gpu-test` with 1 GPU. CTest: 58 passed; pytest: 43 passed, **1 failed**, 2 skipped. NVIDIA H200, ")
    assert line.endswith("\n\nWhat these tests measured themselves:\n\n- 3 layers: 2.0 ms\n")
    assert "megakittens 0.1.0 at `0123456789ab`, 2026-11-29." in line and text.count("## NVIDIA H200") == 1


def test_a_report_of_tests_is_counted(tmp_path):
    (tmp_path / "tests.xml").write_text(
        "<testsuites><testsuite><testcase name='a'/><testcase name='b'><system-out>text</system-out></testcase>"
        "<testcase name='c'><failure/></testcase><testcase name='d'><error/></testcase>"
        "<testcase name='e'><skipped/></testcase></testsuite></testsuites>"
    )
    assert record_tests.counts(tmp_path / "tests.xml") == {"passed": 2, "failed": 2, "skipped": 1}


def test_what_tests_say_that_they_measured_is_kept(tmp_path):
    (tmp_path / "log").write_text(".....\n[ready] 3 layers: 2.0 ms\n..\n[call] 16 tensors: 9 us\n 3 passed [100%]\n")
    assert record_tests.told(tmp_path / "log") == ["3 layers: 2.0 ms", "16 tensors: 9 us"]


def test_no_results_are_no_error(tmp_path):
    assert "No results are recorded yet." in report.page(report.load(tmp_path))
