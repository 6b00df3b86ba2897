#!/usr/bin/env bash
# Configures and builds one preset; with targets, only those.
#
#   scripts/build.sh [PRESET [TARGET...]]      (default: release, everything)
#
# ccache is used where it is installed. Presets: release debug asan tsan fuzz gcc (CMakePresets.json).
set -euo pipefail
cd "$(dirname "$0")/.."

preset="${1:-release}"
targets=("${@:2}")
options=()
command -v ccache > /dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
# Without these it does not keep what was compiled with a precompiled header.
export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}"

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" "${options[@]}" > "$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
cmake --build --preset "$preset" --parallel "$(nproc)" ${targets[@]:+--target "${targets[@]}"}
