"""Streams one answer of a running `quire serve` with the official client: pip install openai; chat.py "What is a quire?" """

import os
import sys

from openai import OpenAI

client = OpenAI(base_url=os.environ.get("QUIRE_URL", "http://127.0.0.1:8080") + "/v1",
                api_key=os.environ.get("QUIRE_API_KEY", "none"))
stream = client.chat.completions.create(model="quire", stream=True, messages=[{"role": "user", "content": sys.argv[1]}])
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
