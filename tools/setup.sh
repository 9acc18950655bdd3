#!/usr/bin/env bash
# Brings a Debian 12 machine to the point where `make test` and `make demo` can build: distribution packages, then .venv.
# Quick when repeated: present packages are not asked for again, and .venv carries a hash of the lists it was made from.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '[setup] %s\n' "$*"; }
fail() {
  printf '[setup] error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '[setup]        %s\n' "$line" >&2; done
  exit 1
}

install_apt_packages() {
  command -v dpkg-query >/dev/null || fail "this is no Debian system (dpkg-query is missing)" \
    "install the equivalents of tools/apt-packages.txt by hand, then run: MEGAKITTENS_SKIP_APT=1 make test"
  local wanted missing sudo=()
  mapfile -t wanted < <(grep -vE '^(#|$)' tools/apt-packages.txt)
  # The installed packages are read once: dpkg-query fails as a whole when one name is unknown to it.
  missing=$(comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
                     <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u))
  if [ -z "$missing" ]; then
    say "distribution packages: all ${#wanted[@]} present"
    return
  fi
  say "distribution packages to install: $(echo $missing)"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "packages are missing and this is neither root nor a machine with sudo" \
      "ask an administrator to run: apt-get install $(echo $missing)"
    sudo=(sudo)
  fi
  mkdir -p .cache
  local log=.cache/apt.log
  say "running apt-get (log: $log)"
  if ! { "${sudo[@]}" apt-get update &&
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } \
      >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    fail "apt-get could not install: $(echo $missing)" \
      "check the network and the sources in /etc/apt, or install these by hand, then repeat"
  fi
  say "distribution packages: installed"
}

check_tools() {
  local tool
  for tool in g++ cmake ninja git python3; do
    command -v "$tool" >/dev/null || fail "$tool is not on the PATH" "install it (tools/apt-packages.txt), then repeat"
  done
  echo 'static_assert(__cplusplus >= 202002L && __GNUC__ >= 12);' |
    g++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null || fail "g++ 12 or newer is needed, found: $(g++ -dumpfullversion)"
}

install_python_packages() {
  local stamp=.venv/.requirements.sha256 want
  want=$(cat tools/requirements.txt tools/constraints.txt | sha256sum | cut -d' ' -f1)
  if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ] && .venv/bin/python -c '' 2>/dev/null; then
    say "python packages: .venv matches tools/requirements.txt"
    return
  fi
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed, found: $(python3 -V)" "put one first on the PATH, then repeat"
  if ! .venv/bin/python -c '' 2>/dev/null; then
    say "creating .venv with $(python3 -V)"
    # A link to an environment elsewhere is left alone; a broken environment of our own is made anew.
    [ ! -L .venv ] || fail ".venv is a link to an environment that does not run: $(readlink .venv)" "remove the link"
    python3 -m venv --clear .venv || fail "python3 cannot create a virtual environment" "install python3-venv, then repeat"
  fi
  mkdir -p .cache
  local log=.cache/pip.log
  say "installing python packages (PyTorch with CUDA: about 3 GB on the first run; log: $log)"
  if ! .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off \
      -r tools/requirements.txt -c tools/constraints.txt 2>&1 </dev/null | tee "$log" |
      sed -un 's/^ *\(Collecting\|Downloading\|Installing collected\|Successfully\) \([^ ,]*\).*/[setup]   \1 \2/p'; then
    grep -E '^ *(ERROR|WARNING)' "$log" | tail -n 5 >&2
    fail "pip could not install tools/requirements.txt" \
      "check the network (or pip's index and proxy settings); $log has the whole story"
  fi
  echo "$want" >"$stamp"
  say "python packages: installed"
}

[ -n "${MEGAKITTENS_SKIP_APT:-}" ] || install_apt_packages
check_tools
install_python_packages
