#!/usr/bin/env bash
# Builds quire and runs all of its tests: unit, source checks, oracle, end to end on the default model; before
# them each fuzz target for QUIRE_FUZZ_SECONDS (default 60). Ends with ctest's summary.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '== %s\n' "$*"; }

scripts/install-deps.sh
say "default model"
scripts/get-model.sh smollm2
say "build (release)"
scripts/build.sh release
say "fuzz targets, ${QUIRE_FUZZ_SECONDS:-60} s each"
scripts/fuzz.sh -s "${QUIRE_FUZZ_SECONDS:-60}"
say "tests"
exec ctest --preset release --parallel "$(nproc)"
