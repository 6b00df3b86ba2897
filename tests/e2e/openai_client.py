"""The official `openai` client against `quire serve`: chat, streams, tools' errors, responses, models,
embeddings, retries, cancelling.

usage: openai_client.py QUIRE TEST_DATA [MODEL]

Needs the package openai, in this Python or one that a virtual environment can install; says so and exits 0 when there is
neither. Not part of the fast tests."""

import re
import sys

from client_package import check, run_with

run_with("openai", "numpy")

import openai

from server_case import TINY, Server, wait_until

HELLO = [{"role": "user", "content": "Hello"}]
EXTRA = {"ignore_eos": True}


def stop_in(text):
    """Some letters of an answer; the tiny model also writes bytes that are no text."""
    return re.search("[A-Za-z]{2,3}", text[1:]).group()


def chat(client):
    options = dict(model="m", messages=HELLO, temperature=0, max_tokens=16, extra_body=EXTRA)
    whole = client.chat.completions.create(**options, logprobs=True, top_logprobs=2)
    check(whole.usage.completion_tokens == 16 and len(whole.choices[0].logprobs.content) == 16, "chat with logprobs")
    stream = list(client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    check(text == whole.choices[0].message.content, "a stream equals the whole answer")
    check(stream[-1].usage.total_tokens == whole.usage.total_tokens, "usage in the last chunk")
    stop = stop_in(text)  # the helpers take an answer that was cut for an error
    with client.chat.completions.stream(**options, stop=stop) as helper:
        final = helper.get_final_completion()
    check(final.choices[0].message.content == text[:text.index(stop)], "the stream helper")
    several = client.chat.completions.create(**{**options, "temperature": 1}, n=3, seed=5)
    check([c.index for c in several.choices] == [0, 1, 2], "n = 3")
    text_whole = client.completions.create(model="m", prompt="Hello", max_tokens=4, temperature=0, logprobs=1)
    check(text_whole.object == "text_completion", "text completion")


def responses(client):
    options = dict(model="m", input="Hello", temperature=0, max_output_tokens=16, extra_body=EXTRA)
    whole = client.responses.create(**options)
    text = whole.output_text
    check(whole.status == "incomplete" and text, "a response")
    stop = stop_in(text)
    with client.responses.stream(**{**options, "extra_body": {**EXTRA, "stop": stop}}) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    check(kinds[0] == "response.created" and kinds[-1] == "response.completed", "the responses stream helper")
    check(final.output_text == text[:text.index(stop)], "its final response")


def errors(client):
    for make, kind in ((lambda: client.chat.completions.create(model="m", messages=HELLO, temperature=-1), openai.BadRequestError),
                       (lambda: client.chat.completions.create(model="m", messages=[]), openai.BadRequestError),
                       (lambda: client.embeddings.create(model="m", input=""), openai.BadRequestError),
                       (lambda: client.post("/nothing", cast_to=object), openai.NotFoundError)):
        try:
            make()
            check(False, kind.__name__)
        except kind as error:
            check(error.request_id is not None, "%s: %s" % (kind.__name__, error.message))


def embeddings(client):
    texts = ["Hello", "Hello world"]
    vectors = client.embeddings.create(model="m", input=texts)  # asks for base64
    plain = client.embeddings.create(model="m", input=texts, encoding_format="float")
    for packed, floats in zip(vectors.data, plain.data):
        check(max(abs(a - b) for a, b in zip(packed.embedding, floats.embedding)) < 1e-7, "embedding %d, twice" % packed.index)
        check(abs(sum(x * x for x in packed.embedding) - 1) < 1e-5, "of length one")
    check(vectors.usage.prompt_tokens == plain.usage.total_tokens, "their usage")
    short = client.embeddings.create(model="m", input="Hello", dimensions=4)
    check(len(short.data[0].embedding) == 4, "dimensions")


def cancelling(client, server):
    stream = client.chat.completions.create(model="m", messages=HELLO, max_tokens=100_000, stream=True, extra_body=EXTRA)
    next(iter(stream))
    stream.close()
    check(wait_until(lambda: server.metric("quire_sequences_running") == 0), "closing a stream ends the request")


def main():
    model = sys.argv[3] if len(sys.argv) > 3 else TINY
    with Server("--parallel", "4", model=model) as server:
        client = openai.OpenAI(base_url="http://127.0.0.1:%d/v1" % server.port, api_key="none")
        check(client.models.list().data[0].object == "model", "models")
        chat(client)
        responses(client)
        embeddings(client)
        errors(client)
        cancelling(client, server)
        check(server.stop() == 0, "shutdown")


main()
