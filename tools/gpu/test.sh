#!/usr/bin/env bash
# tools/gpu/test.sh: the tests that need a GPU, in C++ and in Python. Without a GPU it fails; nothing is skipped. How many
# passed goes to bench/results/<gpu>-tests.json, and from there to docs/performance.md.
set -uo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || command -v python3)}
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
  { echo "[gpu] error: PyTorch sees no GPU on this machine" >&2; exit 1; }
"$python" -c 'import pytest' || { echo "[gpu] error: $python has no pytest; PYTHON=... names another" >&2; exit 1; }
tools/gpu/build.sh || exit 1
export MEGAKITTENS_REQUIRE_GPU=1 MEGAKITTENS_REQUIRE_NVRTC=1 PYTHONPATH="python${PYTHONPATH:+:$PYTHONPATH}"
reports=$PWD/build/gpu
rm -f "$reports"/{ctest,pytest}.xml
status=0
printf '[gpu] CTest\n'
ctest --test-dir build/gpu -L '^gpu$' --output-on-failure --no-tests=error --output-junit "$reports/ctest.xml" || status=1
printf '[gpu] pytest\n'
"$python" -m pytest -q -m gpu -p no:cacheprovider --junitxml "$reports/pytest.xml" tests/python/gpu | tee "$reports/pytest.log" || status=1
PYTHONPATH="bench:$PYTHONPATH" "$python" bench/gpu/record_tests.py "$reports"/{ctest.xml,pytest.xml,pytest.log} && "$python" bench/report.py || status=1
if [ $status = 0 ]; then printf '[gpu] passed\n'; else printf '[gpu] FAILED\n'; fi
exit $status
