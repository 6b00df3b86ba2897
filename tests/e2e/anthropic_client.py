"""The official `anthropic` client against `quire serve`: whole answers, the stream helper, tools, counting, errors.

usage: anthropic_client.py QUIRE TEST_DATA [MODEL]

Needs the package anthropic, in this Python or one that a virtual environment can install; says so and exits 0 when there is
neither. With a MODEL whose template knows tools, calls are tried too. Not part of the fast tests."""

import re
import sys

from client_package import check, run_with

run_with("anthropic")

import anthropic

from server_case import TINY, Server, wait_until

ASK = dict(model="m", max_tokens=24, messages=[{"role": "user", "content": "Hello"}], extra_body={"temperature": 0})
TOOLS = [{"name": "get_weather", "description": "The weather of a city",
          "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]


def answers(client):
    whole = client.messages.create(**ASK)
    text = "".join(block.text for block in whole.content if block.type == "text")
    check(whole.type == "message" and whole.stop_reason in ("max_tokens", "end_turn"), "a message")
    with client.messages.stream(**ASK) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    check(kinds[0] == "message_start" and "message_stop" in kinds, "the stream helper")
    check("".join(block.text for block in final.content if block.type == "text") == text, "says what the whole answer says")
    check(final.usage.output_tokens == whole.usage.output_tokens and final.stop_reason == whole.stop_reason, "with its usage")
    with client.messages.stream(**ASK) as stream:
        check("".join(stream.text_stream) == text, "the text stream")
    letters = re.search("[A-Za-z]{2,3}", text[1:])
    if letters:
        cut = client.messages.create(**ASK, stop_sequences=[letters.group()])
        check((cut.stop_reason, cut.stop_sequence) == ("stop_sequence", letters.group()), "a stop sequence")
    count = client.messages.count_tokens(model="m", messages=ASK["messages"])
    check(count.input_tokens == whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0), "counted tokens")


def tools(client):
    ask = dict(model="m", max_tokens=64, tools=TOOLS, messages=[{"role": "user", "content": "Weather in Paris?"}],
               extra_body={"temperature": 0})
    try:
        client.messages.create(**ask)
    except anthropic.BadRequestError as error:
        return print("ok: no tools with this model:", error.message)
    for choice in ({"type": "any"}, {"type": "tool", "name": "get_weather"}):
        with client.messages.stream(**ask, tool_choice=choice) as stream:
            final = stream.get_final_message()
        calls = [block for block in final.content if block.type == "tool_use"]
        check(final.stop_reason == "tool_use" and calls[0].name == "get_weather", "tool choice %s" % choice["type"])
        check(isinstance(calls[0].input, dict), "with input %s" % calls[0].input)


def errors(client, server):
    try:
        client.messages.create(**{**ASK, "max_tokens": 0})
        check(False, "a bad request")
    except anthropic.BadRequestError as error:
        check("max_tokens" in error.message, "BadRequestError: %s" % error.message)
    with client.messages.stream(**{**ASK, "max_tokens": 100_000, "messages": [{"role": "user", "content": "Go on"}]}) as stream:
        next(iter(stream))
    check(wait_until(lambda: server.metric("quire_sequences_running") == 0), "closing a stream ends the request")


def main():
    model = sys.argv[3] if len(sys.argv) > 3 else TINY
    with Server("--parallel", "4", model=model) as server:
        client = anthropic.Anthropic(base_url="http://127.0.0.1:%d" % server.port, api_key="none", max_retries=0)
        answers(client)
        tools(client)
        errors(client, server)
        check(server.stop() == 0, "shutdown")


main()
