#!/usr/bin/env bash
# tools/build.sh PRESET [TARGET...]: configures once (the build files regenerate themselves afterwards) and builds.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
jobs=${JOBS:-$(nproc)}
if [ ! -f "build/$preset/build.ninja" ]; then
  printf '[build] configuring preset %s\n' "$preset"
  cmake --preset "$preset"
fi
printf '[build] building preset %s with %s jobs\n' "$preset" "$jobs"
cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
if [ -e "build/$preset/megakittens-python.txt" ]; then
  .venv/bin/python tools/dev_install.py
fi
