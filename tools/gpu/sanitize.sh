#!/usr/bin/env bash
# tools/gpu/sanitize.sh [GTEST_FILTER]: programs of gpu_tests under compute-sanitizer on a Hopper GPU: racecheck, on the
# interpreter that it can follow (tests/support/racecheck.hpp), and memcheck, on the ordinary one. Fails where a tool
# reports anything. Whole logs lie in MK_SANITIZE_LOGS, else build/gpu-sanitize. TOOLS="racecheck" runs one of them; LIMIT
# is the seconds that each may take; COMPUTE_SANITIZER names the program, BARRIERS the mbarriers of a CTA to be followed. An
# interpreter for racecheck that an earlier call made from the same sources is taken.
set -uo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || command -v python3)}
fail() { printf '[gpu-sanitize] error: %s\n' "$1" >&2; exit 1; }
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null || fail "PyTorch sees no GPU on this machine"
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
[ -x "$sanitizer" ] || fail "no compute-sanitizer on the PATH; COMPUTE_SANITIZER=... names one"
tools/gpu/build.sh gpu_tests racecheck_interpreter || exit 1
logs=${MK_SANITIZE_LOGS:-build/gpu-sanitize}
interpreter=$PWD/build/gpu-sanitize/interpreter
mkdir -p "$logs"
build/gpu/racecheck_interpreter "$interpreter" || exit 1
# Left out: what compiles kernels of its own, lets a wait expire, or launches hundreds of times.
filter=${1:-Gpu.*-*a_wait_that_cannot_end*:*two_programs_on_two_streams*}
export MEGAKITTENS_REQUIRE_GPU=1 MEGAKITTENS_WAIT_LIMIT_MS=60000
status=0
for tool in ${TOOLS:-racecheck memcheck}; do
  setting=()
  if [ "$tool" = racecheck ]; then
    # Without a compiler the cache gives what it holds.
    setting=(MEGAKITTENS_CACHE_DIR="$interpreter" MEGAKITTENS_NVRTC="$interpreter/no-compiler")
  fi
  log=$logs/$tool.log
  printf '[gpu-sanitize] %s: %s\n' "$tool" "$log"
  env "${setting[@]}" timeout -k 10 "${LIMIT:-1500}" "$sanitizer" --tool "$tool" --num-cuda-barriers "${BARRIERS:-64}" \
    --error-exitcode 1 build/gpu/gpu_tests "--gtest_filter=$filter" >"$log" 2>&1
  code=$?
  grep -E 'SUMMARY|[Hh]azard|(Read|Write) access at|Invalid|overflow|Internal|^\[  (PASSED|FAILED|SKIPPED)' "$log" | sort | uniq -c |
    sort -rn | head -40
  if [ $code = 0 ] && grep -q '^\[  PASSED  \] [1-9]' "$log"; then continue; fi
  if [ $code = 124 ]; then printf '[gpu-sanitize] %s: not at its end after %s s\n' "$tool" "${LIMIT:-1500}"; fi
  tail -n 5 "$log"
  status=1
done
if [ $status = 0 ]; then printf '[gpu-sanitize] passed\n'; else printf '[gpu-sanitize] FAILED\n'; fi
exit $status
