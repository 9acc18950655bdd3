#!/usr/bin/env bash
# tools/gpu/build.sh [TARGET...]: builds the package, the command line and the tests that need a GPU into build/gpu, with
# the Python that has PyTorch. Takes libraries from .gpu-pack where tools/gpu/pack.sh left them, else from the system.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || command -v python3)}
fail() { printf '[gpu] error: %s\n' "$1" >&2; exit 1; }
for tool in cmake ninja g++; do command -v "$tool" >/dev/null || fail "$tool is not on the PATH"; done
"$python" -c 'import nanobind, torch' || fail "$python has no nanobind or no torch; PYTHON=... names another"
"$python" - <<'PY' || fail "Python.h of that Python is not installed"
import pathlib, sys, sysconfig
sys.exit(not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists())
PY
if [ ! -f build/gpu/build.ninja ]; then
  options=()
  [ ! -d .gpu-pack ] || options+=("-DCMAKE_PREFIX_PATH=$PWD/.gpu-pack/usr")
  cmake --preset gpu -DMK_BUILD_BENCH=OFF -DMK_WERROR=OFF "-DPython_EXECUTABLE=$("$python" -c 'import sys; print(sys.executable)')" \
    "${options[@]}" >build-gpu.log 2>&1 || { cat build-gpu.log; rm -f build-gpu.log; fail "cmake could not configure"; }
  rm -f build-gpu.log
fi
[ $# -gt 0 ] || set -- megakittens_python mk_cli gpu_tests
cmake --build build/gpu -j "${JOBS:-$(nproc)}" --target "$@"
"$python" tools/dev_install.py
