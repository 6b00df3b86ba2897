#!/usr/bin/env bash
# Installs what building and testing quire needs, as Debian 12 packages. Root, or sudo.
#
#   scripts/install-deps.sh              build, test, fuzz, format
#   scripts/install-deps.sh --dev        also clang-tidy and GCC
#   scripts/install-deps.sh --browser    also Chromium, for tests/e2e/browser_test.py
#
# Does nothing (and needs no network, no root) when everything is there.
set -euo pipefail

packages=(
  # The compiler, its sanitizer and fuzzer runtimes, the symboliser of their reports, the formatter
  clang-16 libclang-rt-16-dev llvm-16 clang-format-16
  cmake ninja-build ccache pkg-config
  libboost1.81-dev libssl-dev prometheus-cpp-dev
  libfmt-dev nlohmann-json3-dev libcli11-dev libpcre2-dev libutf8proc-dev libxxhash-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  # Source checks are Python; models travel in Python packages (get-model.sh)
  python3 python3-pip unzip ca-certificates
)
case "${1:-}" in
  "") ;;
  --dev) packages+=(clang-tidy-16 g++) ;;
  --browser) packages+=(chromium chromium-driver) ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

fail() { printf 'install-deps: %s\n' "$*" >&2; exit 1; }

command -v dpkg-query > /dev/null || fail "this is no Debian system; install the equivalents of: ${packages[*]}"
missing=()
for package in "${packages[@]}"; do
  status="$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null || true)"
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

printf 'install-deps: installing %s\n' "${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || fail "not root and no sudo; run as root: apt-get install ${missing[*]}"
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq || fail "apt-get update failed; is the network there?"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null ||
  fail "apt-get could not install ${missing[*]}; its message is above"
