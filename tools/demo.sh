#!/usr/bin/env bash
# Builds what the demo needs and runs it; arguments are passed on.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release megakittens_python
PYTHONPATH=python${PYTHONPATH:+:$PYTHONPATH} exec .venv/bin/python python/megakittens/demo.py "$@"
