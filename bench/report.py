"""Writes docs/performance.md from the results that bench/gpu/run.py and record_tests.py left in bench/results.

    python bench/report.py            writes the page
    python bench/report.py --check    only says whether it is that of the results
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import limits  # noqa: E402
import pages  # noqa: E402
from pages import table  # noqa: E402

PAGE = ROOT / "docs/performance.md"
RESULTS = ROOT / "bench/results"
OURS = limits.OURS
MODES = {
    "eager": "eager",
    "torch.compile": "default",
    "torch.compile reduce-overhead": "reduce-overhead",
    "torch.compile max-autotune": "max-autotune",
}
COSTS = {
    "launch": "a launch without instructions",
    "noop": "a noop, of 1,000 behind each other on every SM",
    "hand_off": "a dependent hand-off: a noop that waits for the one before it, which another SM runs",
    "tile": "an elementwise tile of 4 x 256, scheduled as the seed does",
    "node": "fetching a node's record while such tiles run: what they cost more where each is of another node than the one before",
    "node_of_map_in_memory": "the same where one of the node's two tensor maps has no room in the launch's parameters",
}
CALL = "on the host, by `bench/gpu/timing.py`: a call of 16 tensors behind others, its launch included, in the best round"
CORES = {"best_core": "on the best of {cores} cores", "slowest_core": "on the slowest of them"}
LIMITS = ["of", "what", "figure", "may be"]
HEAD = """# Performance

This page is made by `python bench/report.py` from `bench/results`; a test compares them. `make gpu-bench` measures.

Times are microseconds, medians over rounds in which the competitors take turns in one process. *As called* is 20 calls behind
each other from Python until the GPU has finished the last. *Per replay* is one of 20 calls captured in a CUDA graph: with the
same inputs in every call, and *rotated* over so many sets of inputs that none is still in the cache. A ratio is the best of
PyTorch's divided by ours: above 1 ours is faster. *Host* is what a single call of ours costs until it returns, with the GPU idle
and the processor's caches full of the competitors' calls; a loop of calls with 16 tensors, which `make gpu-test` holds under
10 us each on the best core, costs far less. Every result is compared with fp32 throughout: the largest error of any element,
and in parentheses the root of the mean square of all errors, both by the root mean square of the result, in 1/1000.
"""


def load(folder):
    """Results that have a machine, in the order of their files' names."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [result for result in found if "machine" in result and {"called_us", "costs_ns", "tests"} & result.keys()]


def number(value):
    return "-" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def best(times):
    """(name, time) of the fastest that is not ours."""
    return min(((name, time) for name, time in times.items() if name != OURS), key=lambda pair: pair[1])


def ratio(times):
    return f"{best(times)[1] / times[OURS]:.2f}"


def called(result):
    times = result["called_us"]
    name = result["workload"] + ("" if result["right"] else " **WRONG**")
    return [name, *[number(times.get(mode)) for mode in MODES], f"**{number(times[OURS])}**", ratio(times), number(result["host_us"][OURS])]


def replayed(result):
    row = [result["workload"]]
    for times in (result["replayed_us"], result["replayed_rotated_us"]):
        name, time = best(times)
        row += [f"{number(time)} ({name.replace('torch.compile', 'Inductor')})", f"**{number(times[OURS])}**", ratio(times)]
    return row


def error(result, kind, name):
    key = f"{kind} {name}"
    mean = result["errors"].get(key)
    if mean is None:
        return "-"
    largest = result.get("largest_errors", {}).get(key)
    return f"{'-' if largest is None else f'{largest * 1e3:.0f}'} ({mean * 1e3:.2f})"


def errors(result):
    return [result["workload"], *[error(result, "called", name) for name in [*MODES, OURS]], error(result, "graph", OURS)]


def own(result):
    """The interpreter's own cost, and a call's where it was measured."""
    rows = [[what, f"{result['costs_ns'][key]:.0f}"] for key, what in COSTS.items() if key in result["costs_ns"]]
    call = result.get("call_16_tensors_us")
    if call is not None:
        rows += [[f"{CALL}, {where.format(**call)}", f"{call[core] * 1e3:.0f}"] for core, where in CORES.items()]
    return "\nThe interpreter's own cost, by `tools/gpu_costs.cpp`, in graphs of 20 launches:\n\n" + table(["what", "ns"], rows)


def about(machine):
    return (
        f"{machine['device']}, {machine['multiprocessors']} multiprocessors, driver {machine['driver']}, CUDA {machine['cuda']}, "
        f"PyTorch {machine['torch']}; megakittens {machine['megakittens']} at `{machine['commit'][:12]}`, {machine['date']}."
    )


def tests(result):
    """What one run of `make gpu-test` found."""
    found = []
    for runner, counts in result["tests"].items():
        numbers = [f"{counts['passed']} passed", f"**{counts['failed']} failed**", f"{counts['skipped']} skipped"]
        found.append(f"{runner}: " + ", ".join(text for text, count in zip(numbers, counts.values(), strict=True) if count))
    gpus = "1 GPU" if result["gpus"] == 1 else f"{result['gpus']} GPUs"
    told = "".join(f"- {line}\n" for line in result.get("told", []))
    if told:
        told = f"\nWhat these tests measured themselves:\n\n{told}"
    return f"\n`make gpu-test` with {gpus}. {'; '.join(found)}. {about(result['machine'])}\n{told}"


def promised(results):
    """What bench/limits.py holds these results against."""
    rows = [
        [workload or "interpreter", what, number(figure) if figure > 3 else f"{figure:.3f}", f"{limit}" if figure <= limit else f"**{limit}**"]
        for workload, what, figure, limit in limits.held(results)
    ]
    return f"\nHeld against its limits, by `bench/limits.py`; what misses one has it in bold:\n\n{table(LIMITS, rows)}" if rows else ""


def page(results):
    if not results:
        return HEAD + "\nNo results are recorded yet.\n"
    text = HEAD
    measured = [result for result in results if "tests" not in result]
    machines = list(dict.fromkeys(about(result["machine"]) for result in measured))
    for machine in machines:
        group = [result for result in measured if about(result["machine"]) == machine]
        here = [result for result in group if "called_us" in result]
        text += f"\n## {group[0]['machine']['device']}, {group[0]['machine']['date']}\n\n{machine}\n"
        if here:
            text += "\nAs called:\n\n" + table(["workload", *MODES.values(), "ours", "ratio", "host"], map(called, here))
            text += "\nPer replay:\n\n"
            text += table(["workload", "best graph", "ours", "ratio", "best, rotated", "ours", "ratio"], map(replayed, here))
            text += "\nErrors:\n\n"
            text += table(["workload", *MODES.values(), "ours", "ours, in a graph"], map(errors, here))
        text += "".join(own(result) for result in group if "costs_ns" in result)
        text += promised(group)
    tested = "".join(tests(result) for result in results if "tests" in result)
    return text + ("\n## Tests\n" + tested if tested else "")


if __name__ == "__main__":
    pages.write(__doc__, PAGE, page(load(RESULTS)), RESULTS)
