#!/usr/bin/env bash
# Everything that needs no GPU: the quick tests, then sanitizers, clang-tidy, and long property and fuzz runs.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
tools/test.sh
for preset in asan tsan; do
  printf '[test-all] %s\n' "$preset"
  tools/build.sh "$preset"
  ctest --preset "$preset" -j "$jobs"
done
printf '[test-all] long fuzz runs, under the address sanitizer\n'
MEGAKITTENS_LONG=1 ctest --preset asan -L '^fuzz$' -j "$jobs"
printf '[test-all] long property runs; every interpreter with a planted fault and every faulted GPU build compiled\n'
MEGAKITTENS_LONG=1 ctest --preset release -L '^(property|compile)$' -j "$jobs"
printf '[test-all] many random functions against PyTorch\n'
MEGAKITTENS_LONG=1 .venv/bin/python -m pytest -q tests/python/test_random_chains.py
printf '[test-all] the check report\n'
tools/check_report.sh
printf '[test-all] a wheel, built and imported apart from the tree\n'
tools/check_wheel.sh
printf '[test-all] clang-tidy\n'
tools/build.sh tidy
printf '[test-all] passed\n'
