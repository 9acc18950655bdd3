"""Writes docs/concepts/gpu-faults.md from what tools/gpu/faults.sh left in bench/results/gpu-faults.json.

    python bench/fault_report.py            writes the page
    python bench/fault_report.py --check    only says whether it is that of the results
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import pages  # noqa: E402
from pages import table  # noqa: E402

PAGE = ROOT / "docs/concepts/gpu-faults.md"
RESULTS = ROOT / "bench/results/gpu-faults.json"
CHECKER = ROOT / "docs/concepts/check-report.md"
LEFT_OUT = "not in a GPU build"
# What somebody who only runs programs and looks at results would notice.
SEEN = ("wrong", "expired wait", "launch error", "stuck", "crashed")
HEAD = """# The same faults on a GPU

[What the checker notices](check-report.md) lists faults and how many schedules the emulator's checker needs for each. Here the
same faults are planted in GPU builds and run on a Hopper GPU, to see how many of them ordinary testing sees: launches with random
data, and a look at the results. This page is made by `python bench/fault_report.py` from `bench/results/gpu-faults.json`; a test
compares them. `tools/gpu/faults.sh` measures.

Faults of device code are edits of the interpreter's sources, made in memory before they are compiled
([`tests/support/gpu_faults.cpp`](../../tests/support/gpu_faults.cpp)); faults of the scheduler are changes of the program, as on
the emulator. Each is tried on four programs on the whole machine and on the one by which the checker shows it, with four sets of
random inputs in turn; after each launch every byte of the results is compared with those of the unfaulted build, which are
compared with the reference first. A build that waits longer than the limit gives up. Rules and schedules are of the checker now, the
rest is of the commit named below; a row without a rule is a hand-off that the interpreter had then and has no more.
"""


def checker_columns(page):
    """By fault: (rule or verifier's rule, schedules) of the table of planted faults."""
    columns = {}
    for line in page.split("## Every hand-off weakened")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0].startswith("`"):
            verifier, rule, schedules = cells[3:]
            columns[cells[0].strip("`")] = (f"{verifier} (verifier)" if rule == "-" and verifier != "-" else rule, schedules)
    return columns


def outcome(run):
    return run["verdict"] if run["launches"] in (None, 0) or run["verdict"] == "not seen" else f"{run['verdict']} ({run['launches']})"


def by_fault(results):
    faults = {}
    for run in results["runs"]:
        faults.setdefault(run["fault"], []).append(run)
    return faults


def rows_of(faults, checker, common):
    for name, runs in faults.items():
        if runs[0]["verdict"] == LEFT_OUT:
            continue
        rule, schedules = checker.get(name, ("-", "-"))
        cells = {run["program"]: outcome(run) for run in runs}
        own = [f"{program}: {cell}" for program, cell in cells.items() if program not in common]
        yield [f"`{name}`", rule, schedules, *[cells.get(program, "-") for program in common], "; ".join(own) or "-"]


def section(results, checker):
    machine = results["machine"]
    faults = by_fault(results)
    tried = {name: runs for name, runs in faults.items() if runs[0]["verdict"] != LEFT_OUT}
    refused = [name for name, runs in tried.items() if all(run["verdict"] in ("refused", "no place") for run in runs)]
    seen = [name for name, runs in tried.items() if any(run["verdict"] in SEEN for run in runs)]
    counts = {}
    for runs in tried.values():
        for run in runs:
            counts[run["program"]] = counts.get(run["program"], 0) + 1
    common = [program for program, count in counts.items() if count == len(tried)]
    left = [[f"`{name}`", runs[0]["detail"]] for name, runs in faults.items() if runs[0]["verdict"] == LEFT_OUT]
    text = (
        f"\n## {machine['device']}, {machine['date']}\n\n{machine['multiprocessors']} multiprocessors, driver of "
        f"{machine['driver']}; megakittens {machine['megakittens']} at `{machine['commit'][:12]}`. At most "
        f"{results['launches']} launches of each program; waits of {results['wait_limit_ms']} ms are given up.\n\n"
        f"{len(tried)} faults were tried: {len(refused)} are refused before a launch, **{len(seen)} of the other "
        f"{len(tried) - len(refused)} were seen** on some program. *Rule* and *schedules* are the checker's. A number in parentheses "
        f"says how many launches it took; *no place*: the program has nothing that the fault could change.\n\n"
    )
    text += table(["fault", "rule", "schedules", *common, "the checker's program"], rows_of(faults, checker, common), numbers=False)
    if left:
        text += "\nNot in a GPU build:\n\n" + table(["fault", "why"], left, numbers=False)
    return text


def page(results, checker):
    if results is None:
        return HEAD + "\nNo results are recorded yet.\n"
    return HEAD + section(results, checker)


def load(path):
    return json.loads(path.read_text()) if path.exists() else None


if __name__ == "__main__":
    pages.write(__doc__, PAGE, page(load(RESULTS), checker_columns(CHECKER.read_text())), RESULTS)
