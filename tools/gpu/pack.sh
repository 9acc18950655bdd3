#!/usr/bin/env bash
# tools/gpu/pack.sh: gathers the headers and libraries that the build takes from this distribution into .gpu-pack, for a
# machine that has a GPU, PyTorch and a compiler but can install nothing. About 7 MB; tools/gpu/build.sh finds it there.
# Needs a finished build of preset release, which knows the headers that are used.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -f build/release/build.ninja ] || { echo "[pack] build preset release first: tools/build.sh release" >&2; exit 1; }
out=.gpu-pack
rm -rf "$out"
mkdir -p "$out/usr/include"
# Of Boost only what the sources reach; the rest whole, because a GPU's tests may reach further than this build did.
ninja -C build/release -t deps | sed -n 's|^ *\(/usr/include/boost/.*\)|\1|p' | sort -u >"$out/boost.txt"
echo /usr/include/boost/version.hpp >>"$out/boost.txt"
tar -C / -cf - -T <(sed 's|^/||' "$out/boost.txt" | sort -u) | tar -C "$out" -xf -
cp -r /usr/include/{fmt,nlohmann,CLI,gtest,gmock,rapidcheck} "$out/usr/include/"
cp /usr/include/rapidcheck.h "$out/usr/include/"
library=$(dirname "$(find /usr/lib -name libboost_context.a | head -1)")
mkdir -p "$out$library/cmake"
cp -P "$library"/libfmt.so* "$library"/libboost_context.* "$library"/lib{gtest,gtest_main,gmock,gmock_main,rapidcheck}.a \
  "$out$library/"
cp -r "$library"/cmake/{fmt,GTest,Boost-*,boost_context-*,boost_headers-*,BoostDetectToolset-*} "$out$library/cmake/"
for name in nlohmann_json CLI11 rapidcheck; do
  folder=$(find /usr/lib /usr/share -type d -path "*cmake/$name" | head -1)
  [ -z "$folder" ] || { mkdir -p "$out$(dirname "$folder")"; cp -r "$folder" "$out$(dirname "$folder")/"; }
done
find "$out" -name '*.txt' -delete
printf '[pack] %s: %s\n' "$out" "$(du -sh "$out" | cut -f1)"
