#!/usr/bin/env bash
# Builds the wheel as a user's pip would, and imports it from an empty folder.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
.venv/bin/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$out" .
.venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --target "$out/site" "$out"/*.whl
cd "$out"
PYTHONPATH="$out/site" "$root/.venv/bin/python" -P - <<'PY'
import importlib.metadata
import megakittens

assert "/site/" in megakittens.__file__, megakittens.__file__
assert importlib.metadata.version("megakittens") == megakittens.__version__
print(f"[wheel] megakittens {megakittens.__version__} imports from its wheel")
PY
