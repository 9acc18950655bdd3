#!/usr/bin/env bash
# tools/gpu/faults.sh [LAUNCHES [FAULT...]]: every named fault in a GPU build of the interpreter or in its program, on a
# Hopper GPU: bench/results/gpu-faults.json, and docs/concepts/gpu-faults.md made from it. Interpreters that an earlier call
# compiled from the same sources are taken from build/gpu-faults, wherever it was made. JOBS compilers at a time.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || command -v python3)}
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
  { echo "[gpu] error: PyTorch sees no GPU on this machine" >&2; exit 1; }
tools/gpu/build.sh gpu_faults
MK_COMMIT=${MK_COMMIT:-$(git rev-parse HEAD 2>/dev/null || true)}
export MK_COMMIT
build/gpu/gpu_faults compile build/gpu-faults
build/gpu/gpu_faults run build/gpu-faults bench/results/gpu-faults.json "$@"
"$python" bench/fault_report.py
