#!/usr/bin/env bash
# Builds preset `release`, runs CTest and pytest to their ends, then lists what was skipped and why.
# Tests that need a GPU have the label `gpu` (pytest: the marker) and run with the preset of that name.
set -uo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release || exit 1
jobs=${JOBS:-$(nproc)}
results=build/release/results
mkdir -p "$results"
status=0
printf '[test] CTest\n'
ctest --preset release -LE '^gpu$' -j "$jobs" --no-tests=error --output-junit "$PWD/$results/ctest.xml" || status=1
printf '[test] pytest\n'
.venv/bin/python -m pytest -q -m 'not gpu' --junitxml="$results/pytest.xml" tests/python tests/cli tests/lint || status=1
.venv/bin/python tools/report_skips.py "$results/ctest.xml" "$results/pytest.xml" || status=1
if [ $status = 0 ]; then printf '[test] passed\n'; else printf '[test] FAILED\n'; fi
exit $status
