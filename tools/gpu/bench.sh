#!/usr/bin/env bash
# tools/gpu/bench.sh [ARGUMENT...]: the benchmarks of bench/gpu; arguments go to bench/gpu/run.py. Fails without a GPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || command -v python3)}
tools/gpu/build.sh megakittens_python
PYTHONPATH="python:bench${PYTHONPATH:+:$PYTHONPATH}" "$python" bench/gpu/run.py "$@"
