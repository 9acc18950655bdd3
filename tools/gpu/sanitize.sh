#!/usr/bin/env bash
# tools/gpu/sanitize.sh [GTEST_FILTER]: programs of gpu_tests under compute-sanitizer on a Hopper GPU: racecheck, on the
# interpreter that it can follow (tests/support/racecheck.hpp), and memcheck, on the ordinary one. Fails where a tool
# reports anything, and where racecheck reports nothing on an interpreter with a race in it. Whole logs lie in
# MK_SANITIZE_LOGS, else build/gpu-sanitize. TOOLS="race racecheck" runs some of the three; LIMIT is the seconds that each
# may take; COMPUTE_SANITIZER names the program, BARRIERS the mbarriers of a CTA to be followed. Interpreters that an
# earlier call made from the same sources are taken.
set -uo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || command -v python3)}
fail() { printf '[gpu-sanitize] error: %s\n' "$1" >&2; exit 1; }
"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null || fail "PyTorch sees no GPU on this machine"
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
[ -x "$sanitizer" ] || fail "no compute-sanitizer on the PATH; COMPUTE_SANITIZER=... names one"
tools/gpu/build.sh gpu_tests racecheck_interpreter || exit 1
logs=${MK_SANITIZE_LOGS:-build/gpu-sanitize}
interpreters=$PWD/build/gpu-sanitize
mkdir -p "$logs"
# Left out: what compiles kernels of its own, lets a wait expire, launches hundreds of times, or needs launches that overlap.
filter=${1:-*Gpu*-*GpuTwins*:*a_wait_that_cannot_end*:*a_blocking_call*:*replays_that_overlap*:*two_programs_on_two_streams*}
export MEGAKITTENS_REQUIRE_GPU=1 MEGAKITTENS_WAIT_LIMIT_MS=60000
status=0

# sanitize NAME TOOL FILTER [VARIABLE=VALUE...]: the tests under a tool, with a log of that name. The exit code is the tool's.
sanitize() {
  local log=$logs/$1.log tool=$2 tests=$3 code
  shift 3
  printf '[gpu-sanitize] %s\n' "$log"
  env "$@" timeout -k 10 "${LIMIT:-3600}" "$sanitizer" --tool "$tool" --num-cuda-barriers "${BARRIERS:-64}" \
    --error-exitcode 1 build/gpu/gpu_tests "--gtest_filter=$tests" >"$log" 2>&1
  code=$?
  grep -E 'SUMMARY|[Hh]azard|(Read|Write) access at|Invalid|overflow|Internal|^\[  (PASSED|FAILED|SKIPPED)' "$log" | sort |
    uniq -c | sort -rn | head -12
  if [ $code = 124 ]; then printf '[gpu-sanitize] not at its end after %s s\n' "${LIMIT:-3600}"; fi
  return $code
}
# Variables with which programs run on the interpreter of a folder: without a compiler the cache gives what it holds.
taken_from() { printf 'MEGAKITTENS_CACHE_DIR=%s\nMEGAKITTENS_NVRTC=%s/no-compiler\n' "$1" "$1"; }

for tool in ${TOOLS:-race racecheck memcheck}; do
  variables=()
  case $tool in
    race | racecheck)
      folder=$interpreters/$tool
      build/gpu/racecheck_interpreter "$folder" $([ $tool = racecheck ] || echo race) || exit 1
      mapfile -t variables < <(taken_from "$folder") ;;
  esac
  if [ "$tool" = race ]; then
    # Tiles whose K is divided: the race is in the sums that their warpgroups exchange.
    sanitize race racecheck 'Gpu.whole_numbers_give_the_emulators_bits' "${variables[@]}"
    grep -qE 'RACECHECK SUMMARY: [1-9][0-9]* hazard' "$logs/race.log" && continue
    printf '[gpu-sanitize] racecheck did not report the planted race, so that a clean run proves nothing\n'
  else
    sanitize "$tool" "$tool" "$filter" "${variables[@]}" && grep -q '^\[  PASSED  \] [1-9]' "$logs/$tool.log" && continue
  fi
  tail -n 5 "$logs/$tool.log"
  status=1
done
if [ $status = 0 ]; then printf '[gpu-sanitize] passed\n'; else printf '[gpu-sanitize] FAILED\n'; fi
exit $status
