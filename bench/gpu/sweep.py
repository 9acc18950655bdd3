"""Random cases of whole families, ours beside eager PyTorch and Inductor, each as a CUDA graph. Whether a family is fast is decided
by fresh seeds, and not by the sizes that somebody picked.

    PYTHONPATH=python python bench/gpu/sweep.py --seed 7 --cases 200 --inductor all --json sweep.json --budget 600
    PYTHONPATH=python python bench/gpu/sweep.py --seed 7 --case product/3

Exit status: 1 where a result is wrong or a case failed.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

BENCH = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH)]

from gpu import families  # noqa: E402
from gpu.sweeps import inductor, report, supervise  # noqa: E402

# Where Inductor calls cuBLAS as eager does: left out by --inductor some.
PRODUCTS_ALONE = ("product", "product_odd", "product_transposed", "product_square", "product_multiple_of_8", "product_chain", "few_rows")
SHARE_OF_COMPILING = 0.5  # of the budget, at most
SAVE_S = 15  # between two looks at the file


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cases", type=int, default=200, help="dealt over the families by weight, each at least a few")
    parser.add_argument("--families", nargs="+", default=list(families.FAMILIES), choices=list(families.FAMILIES), metavar="FAMILY")
    parser.add_argument("--case", nargs="+", default=[], help="only these, by name, as product/3")
    parser.add_argument("--inductor", choices=["all", "some", "none"], default="some", help="some: not for products alone")
    parser.add_argument("--workers", type=int, default=max(1, min(14, (os.cpu_count() or 2) - 2)), help="that compile ahead")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rotate", action="store_true", help="over so many sets of inputs that none is still in the cache")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=3600, help="seconds for everything")
    return parser.parse_args()


def of_inductor(cases, choice):
    return [case for case in cases if choice == "all" or (choice == "some" and case.family not in PRODUCTS_ALONE)]


def chosen(given):
    if not given.case:
        return families.deal(given.seed, given.cases, given.families)
    named = [name.partition("/") for name in given.case]
    return [families.make(given.seed, family, int(number)) for family, _, number in named]


def record(given, about, results, left):
    """What the file holds."""
    settings = {"seed": given.seed, "cases": given.cases, "families": given.families, "only": given.case, "inductor": given.inductor}
    settings |= {"rounds": given.rounds, "rotate": given.rotate, "budget_s": given.budget, "ran": len(results), "left": left}
    found = report.summary(results, about["ceilings"]) if about else {}
    shown = [{**result, "figures": report.figures(result, about["ceilings"])} if report.compared(result) else result for result in results]
    return {**about, "sweep": settings, **found, "results": shown}


def save(path, content):
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n")


def say(text):
    print(text, flush=True)


def sweep(given, folder):
    start = time.time()
    cases = chosen(given)
    until = start + given.budget
    wanted = of_inductor(cases, given.inductor)
    compiled = []
    if wanted:
        (folder / "cache").mkdir()
        share = SHARE_OF_COMPILING * given.budget
        compiled = inductor.ahead(folder, wanted, given.workers, start + share, say)
        say(f"compiling ahead took {time.time() - start:.0f} s")
    settings = {"seed": given.seed, "rounds": given.rounds, "rotate": given.rotate, "inductor": compiled, "until": until}
    about, results, saved = {}, [], time.time()
    for said in supervise.results(cases, settings, inductor.environment(folder)):
        if "trouble" in said:
            say(said["trouble"])
        elif "machine" in said:
            about = said
            say(f"{said['machine']} {said['ceilings']}")
        else:
            results.append(said)
            say(f"[{len(results)}/{len(cases)} {time.time() - start:.0f} s] {report.line(said, about['ceilings'])}")
        if about and time.time() > saved + SAVE_S:
            saved = time.time()
            save(given.json, record(given, about, results, len(cases) - len(results)))
    left = len(cases) - len(results)
    save(given.json, record(given, about, results, left))
    if not about:
        say("sweep: nothing was measured")
        return 1
    say(report.text(results, about["ceilings"], left))
    return int(any(result["status"] in ("wrong", "failed") for result in results))


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that other processes end with this one
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(BENCH), os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory(prefix="sweep-") as folder:
        return sweep(given, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
