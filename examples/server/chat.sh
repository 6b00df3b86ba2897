#!/usr/bin/env bash
# Streams one answer of a running `quire serve` with curl: chat.sh "What is a quire?"
set -euo pipefail
url="${QUIRE_URL:-http://127.0.0.1:8080}"
body="$(python3 -c 'import json, sys; print(json.dumps({"stream": True, "messages": [{"role": "user", "content": sys.argv[1]}]}))' \
  "${1:?usage: chat.sh TEXT}")"
curl --silent --no-buffer --fail-with-body "$url/v1/chat/completions" -H "Content-Type: application/json" \
  ${QUIRE_API_KEY:+-H "Authorization: Bearer $QUIRE_API_KEY"} -d "$body"
