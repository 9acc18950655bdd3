"""The seed's MLP from PyTorch to the emulated machine, step by step: `make demo`, or `python -m megakittens.demo`."""

import argparse
import pathlib
import time

import torch

import megakittens
from megakittens import _core


def mlp(x, W, b):
    """relu(x @ W[i] + b[i]), layer after layer."""
    for i in range(W.shape[0]):
        x = torch.relu(x @ W[i] + b[i])
    return x


class Stages:
    """Prints what each stage took, and remembers it."""

    def __init__(self):
        self.seconds = {}

    def run(self, name, step):
        print(f"-- {name}", flush=True)
        start = time.perf_counter()
        result = step()
        self.seconds[name] = time.perf_counter() - start
        return result


def errors(result, reference):
    difference = (result.float() - reference).abs()
    return difference.max().item(), difference.mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1024, help="rows and width of the MLP (default 1024)")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--folder", default="build/demo", help="where the graph and program files go")
    parser.add_argument("--check", action="store_true", help="prove every access ordered while it runs (slower)")
    options = parser.parse_args()
    size, layers = options.size, options.layers
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)

    generator = torch.Generator().manual_seed(0)
    x = torch.randn(size, size, generator=generator).bfloat16()
    W = (torch.randn(layers, size, size, generator=generator) / size**0.5).bfloat16()
    b = torch.randn(layers, size, size, generator=generator).bfloat16()

    stages = Stages()
    graph = stages.run("capture through TorchDynamo and AOTAutograd", lambda: megakittens.capture(mlp, x, W, b))
    print(graph)
    program = stages.run("schedule for an H200", lambda: _core.schedule(graph))
    for key, value in program.summary.items():
        print(f"   {key:13} {value}")
    for node in program.nodes:
        print(f"   {node['count']:5} x {node['code']:18} {node['name']}")
    stages.run("verify that every access is ordered", program.verify)

    graph_file, program_file = folder / "mlp.mkg.json", folder / "mlp.mkp"
    graph.save(str(graph_file))
    program.save(str(program_file))

    compiled = megakittens.compile(mlp, check=options.check)
    result = stages.run(
        "compile, and run on the emulator" + (", checked" if options.check else ""), lambda: compiled(x, W, b)
    )
    eager = stages.run("eager PyTorch", lambda: mlp(x, W, b))
    reference = stages.run("fp32 reference", lambda: mlp(x.float(), W.float(), b.float()))

    ours, theirs = errors(result, reference), errors(eager, reference)
    print("\nerror against fp32      largest      mean")
    print(f"   megakittens       {ours[0]:10.6f} {ours[1]:10.7f}")
    print(f"   eager PyTorch     {theirs[0]:10.6f} {theirs[1]:10.7f}")
    print("\nseconds")
    for name, seconds in stages.seconds.items():
        print(f"   {seconds:8.3f}  {name}")
    print(f"\ngraph    {graph_file}\nprogram  {program_file}")
    # The same roundings in another order of summation: nobody's error is the larger one by much.
    if not ours[0] <= 1.5 * theirs[0] + 1e-6:
        raise SystemExit("the result is not as close to the reference as eager PyTorch's")


if __name__ == "__main__":
    main()
