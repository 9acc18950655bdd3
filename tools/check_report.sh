#!/usr/bin/env bash
# Plants every fault, runs every unspoilt program under a thousand schedules, and writes docs/concepts/check-report.md.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release
build/release/check_report docs/concepts/check-report.md
