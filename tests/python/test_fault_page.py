"""docs/concepts/gpu-faults.md is made from the recorded results, and says what they say."""

import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("fault_report", ROOT / "bench/fault_report.py")
report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(report)

CHECKER = {"wait-forgotten": ("not-released", "1"), "needed-one-too-many": ("bounds (verifier)", "-"), "no-fence": ("proxy-fence", "16")}


def run(fault, program, verdict, launches=None, detail=""):
    return {"fault": fault, "program": program, "verdict": verdict, "launches": launches, "detail": detail}


SAMPLE = {
    "kind": "gpu faults",
    "launches": 200,
    "wait_limit_ms": 200,
    "runs": [
        run("no-fence", "MLP", "not seen", 200),
        run("no-fence", "tiles", "not seen", 200),
        run("wait-forgotten", "MLP", "wrong", 3),
        run("wait-forgotten", "products", "stuck"),
        run("needed-one-too-many", "MLP", "refused", 0),
        run("region-shrunk", None, "not in a GPU build", None, "a GPU never sees them"),
    ],
    "machine": {"device": "NVIDIA H200", "multiprocessors": 132, "driver": "CUDA 13.0", "megakittens": "0.1.0",
                "commit": "0123456789abcdef", "date": "2026-11-29"},
}  # fmt: skip


def test_the_committed_page_is_that_of_the_committed_results():
    checker = report.checker_columns(report.CHECKER.read_text())
    assert report.PAGE.read_text() == report.page(report.load(report.RESULTS), checker), "run `python bench/fault_report.py`"


def test_every_fault_of_the_checkers_page_is_read():
    checker = report.checker_columns(report.CHECKER.read_text())
    assert len(checker) > 50
    assert checker["no-fence-behind-gathered-operands"] == ("writer-fence", "1")
    assert checker["waits-beyond-capacity"] == ("bounds (verifier)", "-")


def test_results_become_rows():
    text = report.page(SAMPLE, CHECKER)
    assert "132 multiprocessors, driver of CUDA 13.0; megakittens 0.1.0 at `0123456789ab`." in text
    assert "3 faults were tried: 1 are refused before a launch, **1 of the other 2 were seen**" in text
    assert "| fault | rule | schedules | MLP | the checker's program |" in text
    assert "| `no-fence` | proxy-fence | 16 | not seen | tiles: not seen |" in text
    assert "| `wait-forgotten` | not-released | 1 | wrong (3) | products: stuck |" in text
    assert "| `needed-one-too-many` | bounds (verifier) | - | refused | - |" in text
    assert "| `region-shrunk` | a GPU never sees them |" in text


def test_no_results_are_no_numbers():
    assert report.page(None, CHECKER).endswith("No results are recorded yet.\n")
