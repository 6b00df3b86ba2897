#!/usr/bin/env bash
# Formats every C++ file of the project in place, or only says what would change.
#
#   scripts/format.sh            format
#   scripts/format.sh --check    exit 1 when a file is not formatted
#
# The version is pinned: other versions of clang-format lay out the same style differently.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly version=16
formatter="clang-format-$version"
if ! command -v "$formatter" > /dev/null; then
  echo "format: $formatter is missing; scripts/install-deps.sh installs it" >&2
  exit 1
fi

sources() { find src tests bench tools \( -name '*.cc' -o -name '*.h' \) -print0 2> /dev/null; }

case "${1:-}" in
  "") sources | xargs -0 --no-run-if-empty -n 40 -P "$(nproc)" "$formatter" -i ;;
  --check)
    # shellcheck disable=SC2016  # the inner shell expands its own arguments
    unformatted="$(sources | xargs -0 --no-run-if-empty -n 1 -P "$(nproc)" sh -c \
      '"$0" --dry-run --Werror "$1" 2> /dev/null || echo "$1"' "$formatter" | sort)"
    [ -n "$unformatted" ] || exit 0
    printf '%s\n' "not formatted; scripts/format.sh does it:" "$unformatted"
    exit 1
    ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
