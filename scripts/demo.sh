#!/usr/bin/env bash
# From a fresh checkout to an answer: installs the build dependencies, builds quire, brings the default model
# and asks it something. Running it again only asks.
#
#   scripts/demo.sh [PROMPT]
set -euo pipefail
cd "$(dirname "$0")/.."

prompt="${1:-What is the capital of France? Answer in one sentence.}"
say() { printf '\n== %s\n' "$*" >&2; }

say "dependencies"
scripts/install-deps.sh
say "build"
scripts/build.sh release quire
quire=build/release/bin/quire
say "model"
model="$(scripts/get-model.sh smollm2)"
say "$quire run -m $model -p \"$prompt\" --temp 0"
"$quire" run -m "$model" -p "$prompt" --temp 0

cat << END

That was SmolLM2-135M, the smallest of three models. To go on:

  chat                 $quire run -m $model
  a better model       scripts/get-model.sh qwen2.5-coder-1.5b     (1.1 GB; or gemma3-270m)
  what is in a file    $quire inspect $model
  what it will take    $quire plan -m $model
  how fast it is       $quire bench -m $model
  everything else      $quire --help, README.md, docs/architecture.md
END
