"""Measures cases on the GPU, in a process of its own: prints a line of JSON about the machine, then one for each case.

A case that fails leaves the process running where the GPU's context still works, else the process ends and the sweep starts
another for the rest.
"""

import contextlib
import gc
import json
import sys
import time
import traceback

import torch
from gpu import run, timing
from gpu.families import layers
from gpu.families.case import Case, Operand
from gpu.sweeps import clock, judge, supervise

import megakittens

DEVICE = "cuda"
GRAPH_US = 2000  # that a graph's calls take together, at least one call and at most timing.CALLS
ROUNDS = 7
MOST_FP64 = 2**29  # elements of inputs and result: beyond, the reference is fp32


def reference_of(case, inputs):
    elements = sum(tensor.numel() for tensor in inputs) + case.output_elements
    dtype = torch.float64 if elements <= MOST_FP64 else torch.float32
    return case.reference(inputs, dtype), str(dtype).removeprefix("torch.")


def microseconds(function, inputs):
    """Of one call behind another; for small ones what the host takes."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    function(*inputs)
    start.record()
    function(*inputs)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e3


def calls_for(time_us):
    return max(1, min(timing.CALLS, int(GRAPH_US / max(time_us, 1e-3))))


def timed(functions, sets, rounds, asked):
    """{name: figures}, {name: (calls in its graph, the last one's result)}, and {name: message} of competitors that cannot be
    captured. All take turns."""
    graphs, last, failed = {}, {}, {}
    for name, function in functions.items():
        try:
            calls = calls_for(microseconds(function, sets[0]))
            graphs[name], left = timing.capture(function, sets[:calls], calls)
            last[name] = calls, left
        except Exception as error:
            if name == "megakittens":
                raise
            failed[name] = f"{type(error).__name__}: {error}"[:400]
    watch = clock.Watch(asked)
    calls = {name: count for name, (count, _) in last.items()}
    times = timing.replayed(graphs, rounds, calls, watch)
    return {name: {"us": time, "calls": calls[name], **watch.of(name)} for name, time in times.items()}, last, failed


def first_call_by_inductor(case, inputs, result):
    """The function compiled, or nothing with the reason in the result."""
    start = time.perf_counter()
    try:
        function = torch.compile(case.function(), fullgraph=True, dynamic=False)
        function(*inputs)
        torch.cuda.synchronize()
    except Exception as error:  # a competitor's failure is not the case's
        result["failed_competitors"]["inductor"] = f"{type(error).__name__}: {error}"[:400]
        return {}
    result["inductor_first_call_s"] = round(time.perf_counter() - start, 2)
    return {"inductor": function}


def measure(case, settings, asked, result):
    """Fills in the result. Its `status` becomes measured, refused, wrong or, where this raises, failed while at `stage`."""
    result |= {"flop": case.flop, "bytes": case.bytes, "failed_competitors": {}, "stage": "inputs"}
    count = 1
    if settings["rotate"]:
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        count = max(1, min(timing.CALLS, -(-2 * cache // max(case.bytes, 1))))
    sets = [case.inputs(DEVICE, settings["seed"] + i) for i in range(count)]
    inputs = sets[0]
    result["stage"] = "eager"
    eager = case.function()(*inputs)
    torch.cuda.synchronize()
    result["stage"] = "megakittens"
    ours = megakittens.compile(case.function())
    try:
        called = ours(*inputs)
        ours.synchronize()
        result["stage"] = "reference"
        reference, result["reference"] = (None, "eager") if case.exact else reference_of(case, inputs)
        found, result["errors"] = judge.faults(called, eager, reference, case.exact)
        del called
        result |= {"status": "wrong" if found else "measured", "message": "; ".join(found)}
        result["stage"] = "inductor"
        inductor = first_call_by_inductor(case, inputs, result) if case.name in settings["inductor"] else {}
        result["stage"] = "timing"
        functions = {"megakittens": ours, "eager": case.function(), **inductor}
        result["times"], last, failed = timed(functions, sets, settings["rounds"], asked)
        result["failed_competitors"] |= failed
        ours.synchronize()
        calls, left = last["megakittens"]
        if (calls - 1) % count == 0:  # else it is another set's
            found += [f"in a graph: {sentence}" for sentence in judge.faults(left, eager, reference, case.exact)[0]]
        result |= {"status": "wrong" if found else "measured", "message": "; ".join(found), "stage": "done"}
    except (megakittens.UnsupportedError, megakittens.CapacityError) as error:
        result |= {"status": "refused", "message": str(error)}
    finally:
        with contextlib.suppress(Exception):
            ours.close()


def forget():
    """Gives back what a case took. Raises where the GPU's context is lost."""
    torch._dynamo.reset()
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    try:
        torch.rand(1, device="cuda")
    except RuntimeError:
        # A capture that failed leaves PyTorch's generator believing that it goes on: a fresh state forgets it.
        fresh = torch.Generator("cuda")
        torch.cuda.default_generators[torch.cuda.current_device()].graphsafe_set_state(fresh.graphsafe_get_state())
        torch.rand(1, device="cuda")


def ceilings():
    """GB/s of a device copy, read and write together, in the fastest of three ways (a clone in a graph gave 2.7 TB/s where Inductor's
    copies gave 3.7), and of reading alone, by a sum."""
    source, calls = torch.empty(512 * 2**20 // 4, device=DEVICE).normal_(), 4
    work = {"clone in a graph": torch.clone, "kernel in a graph": torch.neg, "sum": torch.sum}
    graphs = {name: timing.capture(function, [[source]], calls)[0] for name, function in work.items()}
    times = timing.replayed(graphs, ROUNDS, dict.fromkeys(work, calls))
    times["clone"] = min(microseconds(torch.clone, [source]) for _ in range(ROUNDS))
    size = source.numel() * 4
    read = size / times.pop("sum") / 1e3
    copies = {name: 2 * size / time / 1e3 for name, time in times.items()}
    return {"copy_gb_s": max(copies.values()), "copies_gb_s": copies, "read_by_sum_gb_s": read}


def warm_up():
    """The first call in a process loads the interpreter, which may have to be compiled."""
    lines = layers.defined([Operand.contiguous("x", "bf16", [64, 64])], [], "torch.relu(x @ x)")
    case = Case("warm_up/0", lines, [Operand.contiguous("x", "bf16", [64, 64])])
    megakittens.compile(case.function())(*case.inputs(DEVICE, 0))
    torch.cuda.synchronize()


def main():
    """Standard input: {"cases": [..], "seed", "rounds", "rotate", "inductor": names, "until": time.time()}."""
    settings = json.load(sys.stdin)
    lines, sys.stdout = sys.stdout, sys.stderr

    def say(value):
        print(json.dumps(value), file=lines, flush=True)

    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.inference_mode():
        asked = clock.source()
        warm_up()
        say({"machine": run.machine(), "ceilings": ceilings(), "clock": type(asked).__name__ if asked else None})
        for values in settings["cases"]:
            if time.time() >= settings["until"]:
                break
            case, start, result = Case.from_dict(values), time.perf_counter(), {"case": values}
            try:
                measure(case, settings, asked, result)
            except Exception as error:  # the next case is measured all the same
                place = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{place.filename.rsplit('/', 1)[-1]}:{place.lineno}"
                seen = result.get("message", "")  # what was found wrong before
                message = f"{type(error).__name__} at {where}: {error}"[:1000]
                wrong = result.get("status") == "wrong"
                result |= {"status": "wrong" if wrong else "failed", "message": "; ".join(filter(None, [seen, message]))}
            say({**result, "seconds": round(time.perf_counter() - start, 2)})
            try:
                forget()
            except Exception:  # another process takes over
                sys.exit(supervise.LOST_CODE)


if __name__ == "__main__":
    main()
