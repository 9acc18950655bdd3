#!/usr/bin/env bash
# Plants every fault, runs every unspoilt program under a thousand schedules, and writes docs/concepts/check-report.md.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release
build/release/check_report docs/concepts/check-report.md
.venv/bin/python bench/fault_report.py # the page of the same faults on a GPU names the checker's rules
