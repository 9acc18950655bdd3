"""What bench/gpu/sweep.py makes of results, and that nothing which happens to a process ends it."""

import json
import pathlib
import subprocess
import sys
import time

import pytest
import torch

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.append(str(BENCH))

from gpu import families  # noqa: E402
from gpu.families.case import Case, Operand  # noqa: E402
from gpu.sweeps import clock, inductor, judge, report, supervise  # noqa: E402

CEILINGS = {"copy_gb_s": 4000.0, "read_by_sum_gb_s": 4200.0}


def case(name, shape=(1000, 1000)):
    return Case(name, "def f(x):\n    return torch.relu(x)\n", [Operand.contiguous("x", "bf16", list(shape))])


def result(name, ours, eager, inductor=None, status="measured", bytes=8 * 10**6, flop=0, message=""):
    times = {"megakittens": ours, "eager": eager, **({"inductor": inductor} if inductor else {})}
    times = {kind: {"us": us, "calls": 20, "sm_mhz": 1980, "watts": 400.0} for kind, us in times.items()}
    return {"case": case(name).to_dict(), "status": status, "message": message, "bytes": bytes, "flop": flop, "times": times}


MADE_UP = [
    *[result(f"product/{n}", 10.0 + n, 10.0, flop=99 * 10**8) for n in range(10)],
    result("copy_large/0", 8.0, 10.0, 6.0),
    result("copy_large/1", 30.0, 10.0, 40.0, "wrong", message="largest error 1, eager's 0.1"),
    result("copy_large/2", 9.0, 4.0),
    result("copy_large/3", 5.5, 4.0),
    {"case": case("copy_large/4").to_dict(), "status": "refused", "message": "no such copy\nmore"},
    {"case": case("copy_large/5").to_dict(), "status": "failed", "message": "no answer in 90 s"},
]


def test_a_case_is_held_against_the_best_and_the_ceilings():
    own = report.figures(result("product/0", 20.0, 16.0, 10.0, flop=99 * 10**8), CEILINGS)
    assert (own["best"], own["ratio"], own["excess_us"]) == ("inductor", 2.0, 10.0)
    assert own["share_of_copy"] == pytest.approx(0.1) and own["share_of_peak"] == pytest.approx(0.5)
    assert own["bound"] == "flop" and own["least_us_by_ceilings"] == pytest.approx(10.0)
    assert report.figures(result("copy/0", 20.0, 16.0), CEILINGS)["bound"] == "bytes"


def test_a_familys_statistics_are_right():
    found = report.summary(MADE_UP, CEILINGS)
    product, copies = found["families"]["product"], found["families"]["copy_large"]
    assert (product["count"], product["timed"], product["median"], product["p90"], product["worst"]) == (10, 10, 1.45, 1.8, 1.9)
    assert (copies["count"], copies["refused"], copies["wrong"], copies["failed"]) == (6, 1, 1, 1)
    assert copies["timed"] == 2 and copies["worst"] == 3.0 and copies["median"] == pytest.approx((8 / 6 + 3) / 2)
    assert copies["small"] == 2 and copies["largest_excess_us"] == 5.0
    assert copies["least_share_of_copy"] == pytest.approx(2 / 30)
    assert found["worst"][:2] == ["copy_large/1", "product/9"] and len(found["worst"]) == report.WORST
    assert found["all"]["count"] == 16 and found["all"]["timed"] == 12


def test_the_text_has_what_is_wrong_first_and_what_did_not_run():
    text = report.text(MADE_UP, CEILINGS, 7)
    assert text.startswith("WRONG copy_large/1: largest error 1, eager's 0.1\n    return torch.relu(x)\n    # x bf16[1000, 1000]")
    assert "FAILED copy_large/5: no answer in 90 s" in text.partition("family")[0]
    assert "refused 1 (copy_large/4): no such copy\n" in text and text.endswith("16 cases ran, 7 did not")
    assert "median 24%, least 7%" in next(line for line in text.splitlines() if line.startswith("copy_large  "))


def test_quantiles_are_values_that_occur():
    assert report.quantile([1.0], 0.9) == 1.0 and report.quantile(range(1, 11), 0.9) == 9 and report.quantile(range(1, 12), 0.9) == 10


def test_a_sweep_of_nothing_but_refusals_has_a_report():
    assert "-" in report.text(MADE_UP[-2:], CEILINGS, 0)


def judged(ours, dtype=torch.bfloat16, exact=False):
    reference = torch.randn(4096, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    return judge.faults(ours(reference, reference.to(dtype)), reference.to(dtype), reference, exact)[0]


def test_eagers_errors_are_right_and_larger_ones_are_wrong():
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        assert judged(lambda _, eager: eager.clone(), dtype) == []
        # A result of twice the error at every element, and one of three units at one element.
        assert judged(lambda r, e: (r + 2.5 * (e.double() - r) + r * torch.finfo(e.dtype).eps).to(e.dtype), dtype) != []

        def one_wrong(r, e):
            ours = e.clone()
            ours[r.abs().argmax()] *= 1 + 4 * torch.finfo(e.dtype).eps
            return ours

        assert judged(one_wrong, dtype) != []


def test_one_unit_at_one_element_is_right_but_not_in_a_copy():
    def one_unit(r, e):
        ours, at = e.clone(), int(r.abs().argmin())
        ours[at] = torch.nextafter(ours[at], torch.tensor(9.0).to(ours.dtype))
        return ours

    assert judged(one_unit) == []
    assert judged(one_unit, exact=True) == ["1 of 4096 elements differ from eager's"]
    assert judged(lambda _, eager: eager.clone(), exact=True) == []


def test_what_is_not_finite_or_of_another_shape_is_wrong():
    def lost(_, eager):
        ours = eager.clone()
        ours[5] = float("nan")
        return ours

    assert judged(lost) == ["1 of 4096 elements are not finite, and eager's are"]
    assert judged(lambda _, eager: eager[:-1]) != [] and judged(lambda _, eager: eager.float()) != []


# Stands for the process that measures: does to each case what its name says.
PROCESS = """
import json, os, sys, time
settings = json.load(sys.stdin)
print(json.dumps({"machine": {"device": "none"}, "ceilings": {}}), flush=True)
for case in settings["cases"]:
    if time.time() >= settings["until"]: break
    act = case["name"].partition("/")[2]
    if act.startswith("die"): os._exit(9)
    if act.startswith("hang"): time.sleep(60)
    if act.startswith("slow"): time.sleep(0.7)
    print(json.dumps({"case": case, "status": "measured"}), flush=True)
    if act.startswith("lose"): os._exit(3)
"""


def supervised(names, seconds=60.0, program=PROCESS):
    settings = {"until": time.time() + seconds}
    cases = [case(f"copy/{name}") for name in names]
    said = list(supervise.results(cases, settings, command=[sys.executable, "-c", program], first_s=20, case_s=2))
    return said, [(each["case"]["name"].partition("/")[2], each["status"]) for each in said if "case" in each]


def test_a_process_that_dies_or_hangs_costs_one_case():
    said, ran = supervised(["a", "die1", "die2", "b", "hang", "lose", "c", "die3"])
    fates = {"die1": "failed", "die2": "failed", "die3": "failed", "hang": "failed"}
    assert ran == [(name, fates.get(name, "measured")) for name in ["a", "die1", "die2", "b", "hang", "lose", "c", "die3"]]
    assert sum("machine" in each for each in said) == 1
    messages = {each["case"]["name"]: each.get("message") for each in said if "case" in each}
    assert messages["copy/hang"] == "no answer in 2 s" and messages["copy/die1"] == "the process ended with 9"


def test_the_budget_ends_it_cleanly():
    start = time.time()
    _, ran = supervised([f"slow{n}" for n in range(20)], seconds=2.0)
    assert 0 < len(ran) < 8 and time.time() - start < 10


def test_a_process_that_never_starts_ends_it():
    said, ran = supervised(["a", "b"], program="import sys; sys.exit(7)")
    assert ran == [] and [each["trouble"].rpartition(" ")[2] for each in said] == ["7"] * supervise.MOST_BARREN


# Stands for a process that compiles ahead: claims as the real one does, and dies at every third case.
COMPILER = f"""
import json, os, pathlib, sys
sys.path.insert(0, {str(BENCH)!r})
from gpu.sweeps import inductor
folder = pathlib.Path(sys.argv[1])
for number in range(len(json.loads((folder / "cases.json").read_text()))):
    if inductor.claim(folder, number):
        if number % 3 == 1: os._exit(1)
        (folder / f"{{number}}.done").touch()
"""


def test_compiling_ahead_survives_processes_that_die(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/kernel.best_config").touch()
    cases = [case(f"copy/{n}") for n in range(5)]
    told = []
    command = [sys.executable, "-c", COMPILER, str(tmp_path)]
    found = inductor.ahead(tmp_path, cases, 1, time.time() + 60, told.append, command)
    assert found == ["copy/0", "copy/2", "copy/3"] and "3 of 5" in told[0]
    assert not list((tmp_path / "cache").iterdir()), "a choice made while others ran is to be forgotten"


def test_compiling_ahead_ends_with_its_time(tmp_path):
    (tmp_path / "cache").mkdir()
    start = time.time()
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    until = start + inductor.START_S + 1
    assert inductor.ahead(tmp_path, [case("copy/0")], 1, min(until, start + 1), print, command) == []
    assert time.time() - start < 10


def test_medians_of_clock_and_power_are_kept_by_name():
    class Asked:
        values = iter([(1900, 400.0), (1980, 500.0), (1700, 600.0)])

        def sample(self):
            return next(self.values)

    watch = clock.Watch(Asked())
    for _ in range(4):
        watch("ours")  # the last finds nothing more to ask
    assert watch.of("ours") == {"sm_mhz": 1900, "watts": 500.0} and watch.of("eager") == {"sm_mhz": None, "watts": None}
    nobody = clock.Watch(None)
    nobody("ours")
    assert nobody.of("ours") == {"sm_mhz": None, "watts": None}


def test_without_a_gpu_the_sweep_says_so_and_fails(tmp_path):
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    command = [sys.executable, str(BENCH / "gpu/sweep.py"), "--seed", "1", "--case", "copy/0", "--inductor", "none"]
    done = subprocess.run([*command, "--json", str(tmp_path / "out.json")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "did not start" in done.stdout and "nothing was measured" in done.stdout
    settings = json.loads((tmp_path / "out.json").read_text())["sweep"]
    assert (settings["ran"], settings["left"]) == (0, 1)


def test_the_choices_of_inductor():
    import importlib.util

    spec = importlib.util.spec_from_file_location("sweep", BENCH / "gpu/sweep.py")
    sweep = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sweep)
    cases = [case(f"{family}/0") for family in families.FAMILIES]
    assert len(sweep.of_inductor(cases, "all")) == len(families.FAMILIES) and sweep.of_inductor(cases, "none") == []
    some = {each.family for each in sweep.of_inductor(cases, "some")}
    assert {"pointwise", "copy", "linear_chain"} < some and not some & set(sweep.PRODUCTS_ALONE)
    assert set(sweep.PRODUCTS_ALONE) < set(families.FAMILIES)
