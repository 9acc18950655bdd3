"""Measures ours against what a PyTorch user has, and writes bench/results/<gpu>-<workload>.json for each workload.

    make gpu-bench BENCH="--only mlp_1024,products_2048 --rounds 30 --no-autotune"
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import traceback

import torch
import limits
from gpu import timing
from gpu.workloads import WORKLOADS

import megakittens
from megakittens import compat

ROOT = pathlib.Path(__file__).resolve().parents[2]


def error_of(result, reference):
    """Relative, by the root of the mean square."""
    return ((result.float() - reference).pow(2).mean().sqrt() / reference.pow(2).mean().sqrt()).item()


def largest_error_of(result, reference):
    """Of any element, by the root of the mean square of all."""
    return ((result.float() - reference).abs().max() / reference.pow(2).mean().sqrt()).item()


def with_mode(function, **options):
    return torch.compile(function, fullgraph=True, dynamic=False, **options)


def marked(inputs):
    """Weights that keep their place, so that PyTorch's own graphs need not copy them."""
    for tensor in inputs[1:]:
        torch._dynamo.mark_static_address(tensor)
    return inputs


def separate(workload):
    """A function with code of its own, so that compiled forms of it do not meet in Dynamo's cache."""
    return compat.separate(workload.function)


def called_competitors(workload, autotune):
    competitors = {
        "eager": workload.function,
        "torch.compile": with_mode(separate(workload)),
        "torch.compile reduce-overhead": with_mode(separate(workload), mode="reduce-overhead"),
    }
    if autotune:
        competitors["torch.compile max-autotune"] = with_mode(separate(workload), mode="max-autotune")
    competitors["megakittens"] = megakittens.compile(separate(workload))
    return competitors


def graph_competitors(workload, autotune):
    competitors = {"eager": workload.function, "torch.compile": with_mode(separate(workload))}
    if autotune:
        competitors["torch.compile max-autotune"] = with_mode(separate(workload), mode="max-autotune-no-cudagraphs")
    competitors["megakittens"] = megakittens.compile(separate(workload))
    return competitors


def measure(workload, rounds, autotune, cache_bytes):
    warm, fixed = [workload.inputs(0)], [marked(workload.inputs(0))]
    cold = timing.sets_beyond_cache(workload, cache_bytes)
    reference = workload.reference(warm[0])
    eager_error = error_of(workload.function(*warm[0]), reference)
    largest = {}

    def judged(name, result):
        largest[name] = largest_error_of(result, reference)
        return error_of(result, reference)

    with torch.inference_mode():
        calls = called_competitors(workload, autotune)
        errors = {f"called {name}": judged(f"called {name}", function(*fixed[0])) for name, function in calls.items()}
        called = timing.called(calls, fixed, rounds)
        host = timing.host(calls, fixed, rounds)
        calls["megakittens"].synchronize()
        graphs, cold_graphs = {}, {}
        for name, function in graph_competitors(workload, autotune).items():
            graphs[name], result = timing.capture(function, warm)
            graphs[name].replay()
            errors[f"graph {name}"] = judged(f"graph {name}", result)
            cold_graphs[name], _ = timing.capture(function, cold)
        replayed = timing.replayed(graphs, rounds)
        replayed_cold = timing.replayed(cold_graphs, rounds)
    wrong = {name: error for name, error in errors.items() if "megakittens" in name and error > 1.1 * eager_error}
    return {
        "workload": workload.name,
        "rows": workload.rows,
        "width": workload.width,
        "operations": workload.operations,
        "bytes": workload.bytes,
        "input_sets": len(cold),
        "called_us": called,
        "host_us": host,
        "replayed_us": replayed,
        "replayed_rotated_us": replayed_cold,
        "eager_error": eager_error,
        "errors": errors,
        "largest_errors": largest,
        "right": not wrong,
    }


def output_of(*command):
    """What a program prints, or nothing where there is no such program."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def machine():
    device = torch.cuda.get_device_properties(0)
    driver = output_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split()
    commit = os.environ.get("MK_COMMIT") or output_of("git", "-C", str(ROOT), "rev-parse", "HEAD")
    return {
        "device": device.name,
        "multiprocessors": device.multi_processor_count,
        "driver": driver[0] if driver else "unknown",
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "megakittens": megakittens.__version__,
        "commit": commit or "unknown",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    }


def short_name(about):
    """What the files of results from such a machine begin with."""
    return about["device"].lower().replace("nvidia", "").split()[0]


def write_costs(about, path):
    """What the interpreter itself costs, by tools/gpu_costs.cpp, in nanoseconds; and what a call costs the host."""
    printed = output_of(str(ROOT / "build/gpu/gpu_costs"))
    if not printed:
        print("gpu-bench: build/gpu/gpu_costs is missing or failed", file=sys.stderr)
        return 1
    calls = [round(call, 2) for call in timing.call_of_sixteen().values()]
    call = {"best_core": min(calls), "slowest_core": max(calls), "cores": len(calls)}
    costs = {"machine": about, "costs_ns": json.loads(printed), "call_16_tensors_us": call}
    path.write_text(json.dumps(costs, indent=1) + "\n")
    print(f"costs in ns: {printed}; a call of 16 tensors in us: {call}", flush=True)
    return 0


def show(result):
    print(f"\n{result['workload']}: error {max(v for k, v in result['errors'].items() if 'megakittens' in k):.4g}, "
          f"eager's {result['eager_error']:.4g}{'' if result['right'] else '  WRONG'}")
    columns = ["called_us", "host_us", "replayed_us", "replayed_rotated_us"]
    print(f"  {'':32}" + "".join(f"{name.removesuffix('_us'):>18}" for name in columns))
    for name in result["called_us"]:
        cells = [f"{result[column][name]:18.1f}" if name in result[column] else f"{'-':>18}" for column in columns]
        print(f"  {name:32}" + "".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="workloads, by name, with commas between")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--no-autotune", action="store_true", help="leave out PyTorch's slow compilations")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "bench/results")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("gpu-bench: PyTorch sees no GPU on this machine", file=sys.stderr)
        return 1
    names = [name for name in arguments.only.split(",") if name]
    unknown = set(names) - {workload.name for workload in WORKLOADS}
    if unknown:
        parser.error(f"unknown workloads {', '.join(sorted(unknown))}; known: {', '.join(w.name for w in WORKLOADS)}")
    about = machine()
    cache_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    short = short_name(about)
    status, done = 0, []
    arguments.output.mkdir(parents=True, exist_ok=True)
    if not names:
        path = arguments.output / f"{short}-costs.json"
        status = write_costs(about, path)
        if not status:
            done.append(json.loads(path.read_text()))
    for workload in WORKLOADS:
        if names and workload.name not in names:
            continue
        try:
            result = measure(workload, arguments.rounds, not arguments.no_autotune, cache_bytes)
        except Exception:
            traceback.print_exc()
            status = 1
            continue
        show(result)
        status |= not result["right"]
        done.append({"machine": about, **result})
        path = arguments.output / f"{short}-{workload.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(done[-1], indent=2) + "\n")
    for sentence in limits.missed(done):
        print(f"gpu-bench: over its limit: {sentence}", file=sys.stderr)
        status = 1
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
