#!/usr/bin/env bash
# Compiles the interpreters of all architectures into python/megakittens/cubins, which a wheel built afterwards carries:
# a machine with that wheel needs no NVRTC. The files' names hold a hash of the sources; old ones are removed.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release mk_cli
build/release/megakittens cubins --output python/megakittens/cubins
