#!/usr/bin/env bash
# Builds the fuzz targets with AddressSanitizer and UndefinedBehaviorSanitizer and runs each for a while, two at
# a time.
#
#   scripts/fuzz.sh [-s SECONDS] [NAME...]     (default: 60 seconds, every target but fuzz_server, whose build takes
#                                               long)
#
# Seeds are read from tests/fuzz/<folder>/corpus; new inputs are kept in build/fuzz/found/<target>, inputs that
# fail in build/fuzz/failed. Exit status 1 when a target found something; its report is printed.
set -euo pipefail
cd "$(dirname "$0")/.."

# fuzz_one PROGRAM SECONDS: one target; prints one line, or the report.
fuzz_one() {
  local program="$1" seconds="$2" name log runs corpora
  name="$(basename "$program")"
  corpora=("build/fuzz/found/$name" "tests/fuzz/$(basename "$(dirname "$program")")/corpus")
  log="build/fuzz/$name.log"
  mkdir -p "build/fuzz/found/$name" build/fuzz/failed
  [ -d "${corpora[1]}" ] || unset "corpora[1]"
  if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/failed/$name-" "${corpora[@]}" > "$log" 2>&1; then
    runs="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    echo "fuzz: $name: ${runs:-?} runs in $seconds s, nothing found"
  else
    echo "fuzz: $name FAILED; the input is in build/fuzz/failed, the report in $log ends with:"
    tail -n 40 "$log"
    return 1
  fi
}

if [ "${1:-}" = --one ]; then
  fuzz_one "$2" "$3"
  exit
fi

seconds=60
while getopts s: option; do
  case "$option" in
    s) seconds="$OPTARG" ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))

if [ $# -gt 0 ]; then scripts/build.sh fuzz "$@"; else scripts/build.sh fuzz fuzzers; fi
export ASAN_SYMBOLIZER_PATH="${ASAN_SYMBOLIZER_PATH:-$(command -v llvm-symbolizer-16 || true)}"
programs=()
while IFS= read -r program; do
  if [ $# -eq 0 ] || [[ " $* " == *" $(basename "$program") "* ]]; then programs+=("$program"); fi
done < <(find build/fuzz/tests/fuzz -type f -name 'fuzz_*' -executable | sort)
if [ ${#programs[@]} -eq 0 ]; then
  echo "fuzz: no target named: $*" >&2
  exit 1
fi
printf '%s\0' "${programs[@]}" | xargs -0 -P 2 -I{} "$0" --one {} "$seconds"
