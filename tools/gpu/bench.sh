#!/usr/bin/env bash
# tools/gpu/bench.sh [ARGUMENT...]: the benchmarks of bench/gpu, and docs/performance.md made from their results; arguments
# go to bench/gpu/run.py. Fails without a GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || command -v python3)}
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
  { echo "[gpu] error: PyTorch sees no GPU on this machine" >&2; exit 1; }
tools/gpu/build.sh megakittens_python gpu_costs
status=0
PYTHONPATH="python:bench${PYTHONPATH:+:$PYTHONPATH}" "$python" bench/gpu/run.py "$@" || status=$?
"$python" bench/report.py
exit $status
