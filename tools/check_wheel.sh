#!/usr/bin/env bash
# Builds the wheel as a user's pip would, with the interpreters in it, imports it from an empty folder, and loads a program
# there without NVRTC, on the stand-in for a GPU's driver.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
tools/cubins.sh
tools/build.sh release mk_stand_in_driver
.venv/bin/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$out" .
.venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --target "$out/site" "$out"/*.whl
cd "$out"
PYTHONPATH="$out/site" "$root/.venv/bin/python" -P - <<'PY'
import importlib.metadata
import megakittens

assert "/site/" in megakittens.__file__, megakittens.__file__
assert importlib.metadata.version("megakittens") == megakittens.__version__
print(f"[wheel] megakittens {megakittens.__version__} imports from its wheel")
PY
export MEGAKITTENS_CUDA_DRIVER="$root/build/release/libmk_stand_in_driver.so" MEGAKITTENS_NVRTC=/nowhere
for major in 9 10; do
  MK_STAND_IN="major=$major" MEGAKITTENS_CACHE_DIR="$out/cache" PYTHONPATH="$out/site" "$root/.venv/bin/python" -P - <<'PY'
import pathlib
import torch
import megakittens
from megakittens import _core

folder = pathlib.Path(megakittens.__file__).parent / "cubins"
assert len(list(folder.glob("*.cubin"))) == 2, list(folder.glob("*"))
graph = megakittens.capture(lambda x, w: torch.relu(x @ w), torch.ones(64, 64), torch.ones(64, 64))
machine = _core.cuda_device(0)
program = _core.schedule(graph, {"target": machine["target"], "sms": machine["sms"]})
assert _core.CudaProgram(program, 0).bytes > 0
assert _core.compilation_count() == 0
assert not pathlib.Path("cache").exists()
print(f"[wheel] a program loads for {machine['target']} without NVRTC")
PY
done
