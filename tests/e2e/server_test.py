"""`quire serve` on a tiny model: answers, streams, refusals, limits, clients that leave, shutdown."""

import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from server_case import QUIRE, TINY, Server, wait_until

HELLO = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 12, "temperature": 0, "ignore_eos": True}


class Shared(unittest.TestCase):
    """Tests on one server with default options."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--parallel", "8", "--ctx", "8192", "--cors-origin", "https://example.org")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def chat(self, **changes):
        status, body = self.server.post("/v1/chat/completions", {**HELLO, **changes})
        self.assertEqual(status, 200, body)
        return body

    def refused(self, path, body, status, *words):
        got, answer = self.server.post(path, body)
        self.assertEqual(got, status, answer)
        for word in words:
            self.assertIn(word, answer["error"]["message"])
        return answer["error"]


class Answers(Shared):
    def test_chat_has_the_shape_clients_read(self):
        body = self.chat()
        self.assertTrue(body["id"].startswith("chatcmpl-"))
        self.assertEqual(body["object"], "chat.completion")
        choice = body["choices"][0]
        self.assertEqual((choice["index"], choice["finish_reason"], choice["message"]["role"]), (0, "length", "assistant"))
        self.assertEqual(body["usage"]["completion_tokens"], 12)
        self.assertEqual(body["usage"]["total_tokens"], body["usage"]["prompt_tokens"] + 12)

    def test_a_stream_says_what_the_whole_answer_says(self):
        for changes in ({}, {"temperature": 1.2, "seed": 7}, {"n": 3, "temperature": 1, "seed": 1}, {"max_tokens": 1}):
            whole = self.chat(**changes)
            events = self.server.events("/v1/chat/completions", {**HELLO, **changes, "stream_options": {"include_usage": True}})
            self.assertEqual(events[-1], "[DONE]")
            self.assertEqual(events[-2]["choices"], [])
            usage = events[-2]["usage"]
            for key in ("prompt_tokens", "completion_tokens", "total_tokens"):
                self.assertEqual(usage[key], whole["usage"][key])
            chunks = events[:-2]
            self.assertEqual(len({c["id"] for c in events[:-1]}), 1)
            self.assertTrue(all(c["usage"] is None and c["object"] == "chat.completion.chunk" for c in chunks))
            for choice in whole["choices"]:
                mine = [c["choices"][0] for c in chunks if c["choices"][0]["index"] == choice["index"]]
                self.assertEqual(mine[0]["delta"], {"role": "assistant", "content": None})
                self.assertEqual("".join(c["delta"].get("content") or "" for c in mine), choice["message"]["content"])
                self.assertEqual([c["finish_reason"] for c in mine if c["finish_reason"]], [choice["finish_reason"]])

    def test_without_include_usage_no_chunk_has_usage(self):
        events = self.server.events("/v1/chat/completions", HELLO)
        self.assertTrue(all("usage" not in e for e in events[:-1]))

    def test_the_seed_decides(self):
        texts = [self.chat(temperature=1, seed=s)["choices"][0]["message"]["content"] for s in (7, 7, 8)]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])
        without = self.chat(temperature=1)
        again = self.chat(temperature=1, seed=without["seed"])
        self.assertEqual(without["choices"], again["choices"])

    def test_a_stop_string_ends_the_text_before_it(self):
        text = self.chat(max_tokens=40)["choices"][0]["message"]["content"]
        stop = re.search("[A-Za-z]{2,3}", text[1:]).group()
        choice = self.chat(max_tokens=40, stop=[stop, "never seen"])["choices"][0]
        self.assertEqual(choice["finish_reason"], "stop")
        self.assertEqual(choice["message"]["content"], text[:text.index(stop)])

    def test_logprobs_of_every_token(self):
        body = self.chat(logprobs=True, top_logprobs=3)
        tokens = body["choices"][0]["logprobs"]["content"]
        self.assertEqual(len(tokens), 12)
        for token in tokens:
            self.assertEqual(len(token["top_logprobs"]), 3)
            self.assertEqual(token["top_logprobs"][0]["id"], token["id"])  # greedy
            self.assertEqual(token["top_logprobs"][0]["logprob"], token["logprob"])
            self.assertLessEqual(token["logprob"], 0)
        joined = b"".join(bytes(t["bytes"]) for t in tokens)
        self.assertEqual(joined.decode(errors="replace"), body["choices"][0]["message"]["content"])
        events = self.server.events("/v1/chat/completions", {**HELLO, "logprobs": True, "top_logprobs": 3})
        streamed = [t for e in events[:-1] for t in (e["choices"][0]["logprobs"] or {"content": []})["content"]]
        self.assertEqual(streamed, tokens)

    def test_logit_bias_and_content_parts(self):
        token = self.chat(logprobs=True)["choices"][0]["logprobs"]["content"][0]["id"]
        other = self.chat(logprobs=True, logit_bias={str(token): -100})["choices"][0]["logprobs"]["content"][0]["id"]
        self.assertNotEqual(token, other)
        parts = [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]
        apart = self.chat(messages=[{"role": "user", "content": parts}])
        joined = self.chat(messages=[{"role": "user", "content": "Hel\nlo"}])
        self.assertEqual(apart["choices"], joined["choices"])

    def test_an_answer_can_be_begun(self):
        whole = self.server.post("/apply-template", {"messages": HELLO["messages"]})[1]["prompt"]
        begun = self.server.post("/apply-template", {
            "messages": HELLO["messages"] + [{"role": "assistant", "content": "Well,"}]})[1]["prompt"]
        self.assertEqual(begun, whole + "Well,")
        self.chat(messages=HELLO["messages"] + [{"role": "assistant", "content": "Well,"}])

    def test_text_completions(self):
        ask = {"prompt": "Hello", "max_tokens": 8, "temperature": 0, "ignore_eos": True, "logprobs": 2}
        status, body = self.server.post("/v1/completions", ask)
        self.assertEqual((status, body["object"]), (200, "text_completion"))
        choice = body["choices"][0]
        self.assertEqual(len(choice["logprobs"]["tokens"]), 8)
        self.assertEqual(choice["logprobs"]["text_offset"][0], 0)
        events = self.server.events("/v1/completions", ask)
        self.assertEqual("".join(e["choices"][0]["text"] for e in events[:-1]), choice["text"])
        ids = self.server.post("/tokenize", {"content": "Hello", "add_special": True})[1]["tokens"]
        several = self.server.post("/v1/completions", {**ask, "prompt": [ids, ids]})[1]
        self.assertEqual([c["text"] for c in several["choices"]], [choice["text"]] * 2)
        native = self.server.post("/completion", {"prompt": "Hello", "n_predict": 8, "temperature": 0, "ignore_eos": True})[1]
        self.assertEqual((native["content"], native["stop_type"], native["tokens_predicted"]), (choice["text"], "limit", 8))

    def test_echo_tells_what_the_model_thought_of_the_prompt(self):
        ask = {"prompt": "Hello world, how are you", "max_tokens": 3, "temperature": 0, "ignore_eos": True, "logprobs": 2}
        plain = self.server.post("/v1/completions", ask)[1]["choices"][0]
        status, body = self.server.post("/v1/completions", {**ask, "echo": True})
        self.assertEqual(status, 200, body)
        choice, logprobs = body["choices"][0], body["choices"][0]["logprobs"]
        n_prompt = body["usage"]["prompt_tokens"]
        self.assertEqual(body["usage"]["prompt_tokens_details"]["cached_tokens"], 0)  # each row is computed
        self.assertTrue(choice["text"].endswith(ask["prompt"] + plain["text"]), choice["text"])
        for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
            self.assertEqual(len(logprobs[name]), n_prompt + 3, name)
            if name != "text_offset":
                self.assertEqual(logprobs[name][n_prompt:], plain["logprobs"][name], name)
        self.assertEqual((logprobs["token_logprobs"][0], logprobs["top_logprobs"][0]), (None, None))
        self.assertTrue(all(p < 0 for p in logprobs["token_logprobs"][1:]))
        # What is sampled after a prompt is what the prompt says of it when it is longer.
        ids = self.server.post("/tokenize", {"content": ask["prompt"], "add_special": True})[1]["tokens"]
        told = self.server.post("/v1/completions", {**ask, "max_tokens": 1, "echo": False, "prompt": ids[:4]})[1]["choices"][0]
        self.assertEqual(told["logprobs"]["top_logprobs"][0][told["logprobs"]["tokens"][0]],
                         logprobs["top_logprobs"][4][told["logprobs"]["tokens"][0]])
        nothing = {**ask, "echo": True, "max_tokens": 0, "prompt": [ids, ids[:3]]}
        for each, n in zip(self.server.post("/v1/completions", nothing)[1]["choices"], (len(ids), 3)):
            self.assertEqual((each["finish_reason"], each["logprobs"]["token_logprobs"]),
                             ("length", logprobs["token_logprobs"][:n]))
        self.assertEqual(self.server.post("/v1/completions", {"prompt": "Hi", "echo": True, "max_tokens": 0})[1]["choices"][0]
                         ["text"][-2:], "Hi")
        events = self.server.events("/v1/completions", {**ask, "echo": True})
        self.assertEqual("".join(e["choices"][0]["text"] for e in events[:-1]), choice["text"])

    def test_embeddings(self):
        texts = ["Hello", "Hello world", "A longer text that has more tokens than one step has rows for prompts " * 4]
        status, body = self.server.post("/v1/embeddings", {"input": texts, "model": "m"})
        self.assertEqual((status, body["object"], [d["index"] for d in body["data"]]), (200, "list", [0, 1, 2]), body)
        vectors = [d["embedding"] for d in body["data"]]
        for vector in vectors:
            self.assertAlmostEqual(sum(x * x for x in vector), 1, places=5)
        ids = [self.server.post("/tokenize", {"content": t, "add_special": True})[1]["tokens"] for t in texts]
        self.assertEqual(body["usage"], {"prompt_tokens": sum(map(len, ids)), "total_tokens": sum(map(len, ids))})
        again = self.server.post("/v1/embeddings", {"input": ids, "encoding_format": "base64"})[1]["data"]
        for vector, other in zip(vectors, again):
            packed = base64.b64decode(other["embedding"])
            self.assertEqual(list(struct.unpack("<%df" % len(vector), packed)),
                             list(struct.unpack("<%df" % len(vector), struct.pack("<%df" % len(vector), *vector))))
        short = self.server.post("/v1/embeddings", {"input": texts[0], "dimensions": 4})[1]["data"][0]["embedding"]
        self.assertEqual(len(short), 4)
        self.assertAlmostEqual(sum(x * x for x in short), 1, places=5)
        self.assertAlmostEqual(short[1] / short[0], vectors[0][1] / vectors[0][0], places=4)
        native = self.server.post("/embedding", {"content": texts[0], "embd_normalize": -1})[1][0]["embedding"][0]
        self.assertAlmostEqual(native[1] / native[0], vectors[0][1] / vectors[0][0], places=4)
        for bad, word in (({"input": ""}, "input"), ({"input": []}, "input"), ({"input": [1.5]}, "input"),
                          ({"input": "x", "dimensions": 0}, "dimensions"), ({"input": "x", "encoding_format": "hex"}, "hex"),
                          ({}, "input"), ({"input": "x", "stream": True}, "stream")):
            self.refused("/v1/embeddings", bad, 400, word if word != "hex" else "encoding_format")
        self.refused("/v1/rerank", {"query": "a", "documents": ["b"]}, 501, "ranking head")

    def test_responses_and_messages(self):
        text = self.chat()["choices"][0]["message"]["content"]
        ask = {"input": "Hello", "max_output_tokens": 12, "temperature": 0, "ignore_eos": True}
        status, whole = self.server.post("/v1/responses", ask)
        self.assertEqual((status, whole["status"]), (200, "incomplete"))
        self.assertEqual(whole["output"][0]["content"][0]["text"], text)
        events = self.server.events("/v1/responses", ask)
        self.assertEqual([e["sequence_number"] for e in events], list(range(len(events))))
        self.assertEqual(events[0]["type"], "response.created")
        self.assertEqual("".join(e["delta"] for e in events if e["type"] == "response.output_text.delta"), text)
        last = events[-1]["response"]
        self.assertEqual(events[-1]["type"], "response.incomplete")
        self.assertEqual([i["id"] for i in last["output"]],
                         [e["item"]["id"] for e in events if e["type"] == "response.output_item.added"])

        ask = {"messages": HELLO["messages"], "max_tokens": 12, "temperature": 0, "top_k": 1}
        status, whole = self.server.post("/v1/messages", ask)
        self.assertEqual((status, whole["type"], whole["role"]), (200, "message", "assistant"))
        events = self.server.events("/v1/messages", ask)
        self.assertEqual([events[0]["type"], events[-1]["type"]], ["message_start", "message_stop"])
        self.assertEqual("".join(e["delta"]["text"] for e in events if e["type"] == "content_block_delta"),
                         "".join(b["text"] for b in whole["content"]))
        count = self.server.post("/v1/messages/count_tokens", {"messages": HELLO["messages"]})[1]["input_tokens"]
        usage = whole["usage"]
        self.assertEqual(count, usage["input_tokens"] + usage["cache_read_input_tokens"])

    def test_endings_and_counts(self):
        ids = [t["id"] for t in self.chat(logprobs=True)["choices"][0]["logprobs"]["content"]]
        last = next(i for i in range(1, 12) if ids[i] not in ids[:i])
        cut = self.chat(logprobs=True, stop_token_ids=[ids[last]])
        self.assertEqual((cut["choices"][0]["finish_reason"], cut["usage"]["completion_tokens"]), ("stop", last))
        longer = self.chat(stop_token_ids=[ids[last]], min_tokens=last + 1)
        self.assertGreater(longer["usage"]["completion_tokens"], last)
        text = self.chat(max_tokens=40)["choices"][0]["message"]["content"]
        stop = re.search("[A-Za-z]{2,3}", text[1:]).group()
        kept = self.chat(max_tokens=40, stop=stop, include_stop_str_in_output=True)["choices"][0]["message"]["content"]
        self.assertEqual(kept, text[:text.index(stop) + len(stop)])
        self.assertEqual(self.chat(samplers=["temperature"], temperature=0)["choices"], self.chat()["choices"])
        for bad, name in (({"stop_token_ids": [1 << 40]}, "stop_token_ids"), ({"min_tokens": 99}, "min_tokens"),
                          ({"samplers": ["temperature", "top_k"]}, "samplers"), ({"truncate_prompt_tokens": 0}, "truncate"),
                          ({"tool_choice": "required"}, "tool_choice"), ({"tool_choice": {"type": "function"}}, "tool_choice")):
            self.refused("/v1/chat/completions", {**HELLO, **bad}, 400, name)
        count = self.server.post("/v1/chat/completions/input_tokens", HELLO)[1]["input_tokens"]
        self.assertEqual(count, self.chat()["usage"]["prompt_tokens"])
        self.assertEqual(self.server.post("/v1/responses/input_tokens", {"input": "Hello"})[1]["input_tokens"], count)
        native = self.server.post("/completion", {"prompt": "Hello", "n_predict": 4, "temperature": 0, "ignore_eos": True, "return_tokens": True})[1]
        self.assertEqual(len(native["tokens"]), 4)
        status, answer = self.server.post("/infill", {"input_prefix": "a", "input_suffix": "b"})
        self.assertEqual(status, 501, answer)
        self.assertEqual(len(self.server.post("/tokenize", {"prompt": "Hello", "add_special_tokens": False})[1]["tokens"]),
                         len(self.server.post("/tokenize", {"content": "Hello"})[1]["tokens"]))

    def test_the_description_is_of_what_is_read(self):
        api = json.loads(self.server.get("/openapi.json")[1])
        self.assertEqual(api["openapi"], "3.1.0")
        for path, operations in api["paths"].items():
            for method, operation in operations.items():
                self.assertIn("200", operation["responses"], path)
                self.assertEqual(method == "post", "requestBody" in operation, path)
        body = api["paths"]["/v1/chat/completions"]["post"]["requestBody"]["content"]["application/json"]
        schema, fields = body["schema"], body["schema"]["properties"]
        self.assertEqual(schema["required"], ["messages"])
        self.assertFalse(schema["additionalProperties"])
        self.assertEqual((fields["top_p"]["minimum"], fields["top_p"]["maximum"]), (0, 1))
        self.assertIn("role", fields["messages"]["items"]["properties"])
        self.assertIn("include_usage", fields["stream_options"]["properties"])
        self.assertEqual(fields["mirostat"]["enum"], [0, None])
        for name in fields:  # each is read: none is refused as unknown
            status, answer = self.server.post("/v1/chat/completions", {**HELLO, name: {"?": []}})
            self.assertNotIn("not known", answer.get("error", {}).get("message", ""), name)

    def test_what_the_server_tells_about_itself(self):
        self.assertEqual(self.server.get("/health")[0], 200)
        status, body = self.server.get("/v1/models")
        self.assertEqual((status, json.loads(body)["object"]), (200, "list"))
        for path in ("/props", "/slots", "/v1/health", "/models"):
            self.assertEqual(self.server.get(path)[0], 200, path)
        tokens = self.server.post("/tokenize", {"content": "Hello world"})[1]["tokens"]
        self.assertEqual(self.server.post("/detokenize", {"tokens": tokens})[1]["content"].strip(), "Hello world")

    def test_the_page_and_its_parts(self):
        status, headers, body = self.server.ask("GET", "/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        parts = re.findall(r'(?:src|href)="([^"]+)"', body.decode())
        self.assertEqual(set(parts), {"icon.svg", "style.css", "main.js"})
        for part in [*parts, "chat.js", "live.js", "markdown.js"]:
            self.assertEqual(self.server.get("/" + part)[0], 200, part)
        self.assertNotIn(b"style=", body)  # the policy forbids it

    def test_metrics_are_what_usage_says(self):
        names = ("quire_prompt_tokens_total", "quire_completion_tokens_total", "quire_prompt_tokens_cached_total")
        before = [self.server.metric(n) for n in names]
        usage = self.chat()["usage"]
        after = [self.server.metric(n) for n in names]
        self.assertEqual([a - b for a, b in zip(after, before)],
                         [usage["prompt_tokens"], usage["completion_tokens"], usage["prompt_tokens_details"]["cached_tokens"]])
        self.assertTrue(wait_until(lambda: self.server.metric("quire_sequences_running") == 0))
        line = re.compile(r'[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_]\w*="(\\.|[^"\\])*",?)*\})? -?([0-9.e+-]+|\+?Inf)$')
        for row in self.server.get("/metrics")[1].splitlines():
            if not row.startswith("# "):
                self.assertRegex(row, line)


class Refusals(Shared):
    def test_bad_bodies(self):
        for body in ("", "{:", '{"messages": [', b'{"prompt": "\xff"}', '{"a": 1e400}', '{"a": 1, "a": 2}', "[]",
                     "[" * 100_000, '{"messages":' * 1000):
            status, _, text = self.server.ask("POST", "/v1/chat/completions", body)
            self.assertEqual(status, 400, text)
            self.assertEqual(json.loads(text)["error"]["type"], "invalid_request_error")

    def test_fields_are_named(self):
        chat = "/v1/chat/completions"
        for changes, name in (({"stream": "false"}, "stream"), ({"messages": "hi"}, "messages"), ({"messages": []}, "messages"),
                              ({"messages": [{"role": "wizard", "content": ""}]}, "messages[0].role"),
                              ({"messages": [{"role": "user"}]}, "messages[0].content"),
                              ({"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
                              ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "type"),
                              ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/"}}]}]}, "type"),
                              ({"temperature": -1}, "temperature"), ({"top_p": 2}, "top_p"), ({"n": 0}, "n"),
                              ({"grammar": "root ::= \"a\""}, "grammar"), ({"mirostat": 2}, "mirostat"),
                              ({"response_format": {"type": "json_object"}}, "response_format"),
                              ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
                              ({"logit_bias": {"99999999": 1}}, "logit_bias"), ({"stop": [""]}, "stop"),
                              ({"top_logprobs": 3}, "top_logprobs"), ({"no_such_field": 1}, "no_such_field"),
                              ({"max_tokens": 1, "max_completion_tokens": 2}, "max_completion_tokens")):
            self.assertIn(name, self.refused(chat, {**HELLO, **changes}, 400)["message"])
        self.refused("/v1/completions", {"prompt": "x", "best_of": 2}, 400, "best_of")
        self.refused("/v1/completions", {"prompt": [1, 99999999]}, 400)
        self.refused("/v1/responses", {"input": "x", "previous_response_id": "r"}, 400, "previous_response_id")
        status, body = self.server.post("/v1/messages", {"messages": "x", "max_tokens": 5})
        self.assertEqual((status, body["type"], body["error"]["type"]), (400, "error", "invalid_request_error"))

    def test_no_op_fields_are_taken(self):
        self.chat(user="me", metadata={"a": "b"}, store=True, service_tier="auto", mirostat=0, grammar="", n=1,
                  response_format={"type": "text"}, logprobs=None, tools=[], parallel_tool_calls=False, cache_prompt=False,
                  xtc_probability=0, dry_multiplier=0.0, logit_bias={}, presence_penalty=0, stop=None)

    def test_a_prompt_that_is_too_long(self):
        error = self.refused("/v1/completions", {"prompt": [1] * 100_000}, 400)
        self.assertEqual(error["type"], "exceed_context_size_error")
        self.assertEqual(error["n_prompt_tokens"], 100_000)

    def test_paths_and_methods(self):
        self.assertEqual(self.server.get("/nothing")[0], 404)
        self.assertEqual(self.server.get("/v1/chat/completions")[0], 405)
        self.assertEqual(self.server.ask("POST", "/v1/chat/completions", "x", {"Content-Type": "text/plain"})[0], 400)

    def test_preflight(self):
        status, headers, _ = self.server.ask("OPTIONS", "/v1/chat/completions")
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, "https://example.org"))


class Connections(Shared):
    def test_keep_alive_and_request_ids(self):
        connection = self.server.connect()
        for i in range(3):
            connection.request("GET", "/health", headers={"X-Request-Id": "mine-%d" % i})
            response = connection.getresponse()
            self.assertEqual(response.getheader("X-Request-Id"), "mine-%d" % i)
            response.read()
        connection.request("HEAD", "/health")
        response = connection.getresponse()
        self.assertEqual((response.status, response.read()), (200, b""))
        connection.close()

    def test_pipelined_and_split_requests(self):
        one = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
        client = self.server.raw(one + one + one[:9])
        time.sleep(0.05)
        client.sendall(one[9:])
        data = b""
        while data.count(b'{"status":"ok"}') < 3:
            piece = client.recv(4096)
            self.assertTrue(piece, data)
            data += piece
        client.close()

    def test_a_client_that_only_listens_is_let_go(self):
        for _ in range(40):  # the end is seen before, while or after the answer is sent
            client = self.server.raw(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            client.settimeout(10)
            while client.recv(4096):
                pass
            client.close()

    def test_chunked_bodies_and_expect(self):
        body = json.dumps(HELLO).encode()
        client = self.server.raw(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                                 b"Expect: 100-continue\r\nConnection: close\r\n\r\n")
        self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n\r\n"))
        client.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        data = b""
        while piece := client.recv(65536):
            data += piece
        self.assertIn(b"200 OK", data)
        client.close()

    def test_http_1_0_streams_until_close(self):
        body = json.dumps({**HELLO, "stream": True}).encode()
        client = self.server.raw(b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        data = b""
        while piece := client.recv(65536):
            data += piece
        self.assertNotIn(b"chunked", data)
        self.assertTrue(data.endswith(b"data: [DONE]\n\n"))

    def test_garbage_is_refused(self):
        for data, status in ((b"\x00\x01\x02\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000, b"431"),
                             (b"POST /tokenize HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413")):
            client = self.server.raw(data)
            self.assertIn(status, client.recv(4096).split(b"\r\n")[0])
            client.close()
        self.assertEqual(self.server.get("/health")[0], 200)

    def test_a_client_that_leaves_is_noticed(self):
        long = {**HELLO, "max_tokens": 100_000, "n": 8}
        for stream in (False, True):
            for way in ("close", "reset", "half"):
                client = self.server.raw_post("/v1/chat/completions", {**long, "stream": stream})
                self.assertTrue(wait_until(lambda: self.server.metric("quire_sequences_running") >= 1))
                if way == "half":
                    client.shutdown(socket.SHUT_WR)
                elif way == "reset":
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
                    client.close()
                else:
                    client.close()
                self.assertTrue(wait_until(lambda: self.server.metric("quire_sequences_running") == 0), (stream, way))
                client.close()
        self.assertEqual(self.chat()["usage"]["completion_tokens"], 12)

    def test_health_answers_beside_streams(self):
        clients = [self.server.raw_post("/v1/chat/completions", {**HELLO, "max_tokens": 100_000, "stream": True})
                   for _ in range(16)]
        begin = time.monotonic()
        for _ in range(20):
            self.assertEqual(self.server.get("/health")[0], 200)
        self.assertLess(time.monotonic() - begin, 10)
        for client in clients:
            client.close()
        self.assertTrue(wait_until(lambda: self.server.metric("quire_sequences_running") == 0))

    def test_many_at_once_answer_as_alone(self):
        asks = [{**HELLO, "max_tokens": 24, "temperature": 0.9, "seed": i,
                 "messages": [{"role": "user", "content": "Hello " * (1 + i % 5)}]} for i in range(24)]
        alone = [self.server.post("/v1/chat/completions", a)[1]["choices"] for a in asks]
        together = [None] * len(asks)

        def run(i):
            together[i] = self.server.post("/v1/chat/completions", asks[i])[1]["choices"]

        threads = [threading.Thread(target=run, args=(i,)) for i in range(len(asks))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(alone, together)


class Lifecycle(unittest.TestCase):
    def test_a_port_in_use_is_said_at_once(self):
        with Server() as server:
            result = subprocess.run([QUIRE, "serve", "-m", TINY, "--port", str(server.port)], capture_output=True, text=True,
                                    timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertIn("in use", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_an_idle_server_ends_at_once(self):
        with Server() as server:
            idle = server.raw(b"")
            begin = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - begin, 5)
            idle.close()

    def test_answers_under_way_finish(self):
        with Server() as server:
            client = server.raw_post("/v1/chat/completions", {**HELLO, "max_tokens": 400, "n": 8, "stream": True})
            data = client.recv(4096)
            self.assertNotIn(b"[DONE]", data)
            self.assertEqual(server.stop(), 0)
            while piece := client.recv(65536):
                data += piece
            self.assertIn(b"[DONE]", data)
            self.assertEqual(data.count(b'"finish_reason":"length"'), 8)
            client.close()

    def test_answers_are_cut_when_the_time_is_over(self):
        with Server("--drain-seconds", "0", "--ctx", "8192") as server:
            client = server.raw_post("/v1/chat/completions", {**HELLO, "max_tokens": 100_000, "stream": True})
            data = b""
            while b"data: " not in data:
                data += client.recv(4096)
            self.assertEqual(server.stop(), 0)
            while piece := client.recv(65536):
                data += piece
            self.assertIn(b"shutting down", data)
            self.assertNotIn(b"[DONE]", data)
            client.close()

    def test_a_slow_reader_holds_up_nobody(self):
        with Server("--parallel", "1", "--ctx", "8192") as server:
            slow = socket.socket()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server.port))
            text = json.dumps({**HELLO, "max_tokens": 100_000, "n": 1, "stream": True, "logprobs": True, "top_logprobs": 20})
            slow.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                         % (len(text), text.encode()))
            status, body = server.post("/v1/chat/completions", HELLO)
            self.assertEqual((status, body["usage"]["completion_tokens"]), (200, 12))
            slow.close()
            self.assertTrue(wait_until(lambda: server.metric("quire_sequences_running") == 0))
            self.assertTrue(wait_until(lambda: server.metric("quire_answer_memory_bytes") == 0))

    def test_an_answer_that_takes_too_long_ends(self):
        with Server("--request-timeout", "1", "--ctx", "32768") as server:
            begin = time.monotonic()
            status, body = server.post("/v1/chat/completions", {**HELLO, "max_tokens": 32_000, "n": 8})
            self.assertEqual(status, 503, body)
            self.assertIn("time", body["error"]["message"])
            self.assertLess(time.monotonic() - begin, 15)
            self.assertEqual(server.post("/v1/chat/completions", HELLO)[0], 200)
            self.assertTrue(wait_until(lambda: server.metric("quire_sequences_running") == 0))

    def test_answers_take_no_more_memory_than_given(self):
        with Server("--answer-memory", "500kB", "--ctx", "32768", "--parallel", "2") as server:
            self.assertEqual(server.metric('quire_memory_bytes{kind="answers",place="host"}'), 500_000)
            long = {**HELLO, "max_tokens": 30_000}
            status, body = server.post("/v1/chat/completions", {**long, "n": 8})
            self.assertEqual(status, 429, body)
            self.assertIn("try again", body["error"]["message"])
            status, body = server.post("/v1/completions", {"prompt": "a " * 6_000, "echo": True, "logprobs": 20, "max_tokens": 1})
            self.assertEqual(status, 400, body)
            self.assertIn("fewer", body["error"]["message"])
            self.assertEqual(server.post("/v1/chat/completions", HELLO)[0], 200)
            self.assertTrue(wait_until(lambda: server.metric("quire_answer_memory_bytes") == 0))

    def test_unix_sockets(self):
        with Server() as first:
            path = os.path.join(first.folder.name, "socket")
            with Server("--unix-socket", path) as server:
                client = socket.socket(socket.AF_UNIX)
                client.connect(path)
                client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                self.assertIn(b"200 OK", client.recv(4096))
                client.close()
                self.assertEqual(server.stop(), 0)
            self.assertFalse(os.path.exists(path))


class Keys(unittest.TestCase):
    def keys(self, server, tenants):
        with open(self.path, "w") as file:
            json.dump({"tenants": tenants}, file)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "keys.json")

    def test_tenants(self):
        self.keys(None, [{"name": "a", "keys": ["secret-a"]}, {"name": "b", "keys": ["secret-b"], "requests_per_minute": 1},
                         {"name": "c", "keys": ["secret-c"]}])
        log = os.path.join(self.folder.name, "access.log")
        with Server("--api-keys", self.path, "--access-log", log) as server:
            ask = lambda key: server.ask("POST", "/v1/chat/completions", {**HELLO, "messages": [
                {"role": "user", "content": "A long beginning " * 20}]}, {"Authorization": "Bearer " + key} if key else {})
            self.assertEqual(server.get("/health")[0], 200)
            self.assertEqual(ask("")[0], 401)
            self.assertEqual(ask("secret")[0], 401)
            self.assertEqual(server.ask("GET", "/v1/models", headers={"X-Api-Key": "secret-a"})[0], 200)
            cached = lambda answer: json.loads(answer[2])["usage"]["prompt_tokens_details"]["cached_tokens"]
            self.assertEqual(cached(ask("secret-a")), 0)
            self.assertGreater(cached(ask("secret-a")), 0)  # its own beginning
            self.assertEqual(cached(ask("secret-c")), 0)    # and nobody else's
            self.assertEqual(ask("secret-b")[0], 200)
            status, headers, _ = ask("secret-b")
            self.assertEqual(status, 429)
            self.assertGreater(int(headers["Retry-After"]), 0)

            self.keys(server, [{"name": "a", "keys": ["new"]}])
            server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: ask("new")[0] == 200))
            self.assertEqual(ask("secret-a")[0], 401)
            with open(self.path, "w") as file:
                file.write("{")
            server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: "stay as they were" in server.errors()))
            self.assertEqual(ask("new")[0], 200)

            with open(log) as file:
                logged = file.read()
            lines = [json.loads(line) for line in logged.splitlines()]
            self.assertTrue(any(l["tenant"] == "a" and l["completion_tokens"] == 12 for l in lines if l["status"] == 200
                                and "completion_tokens" in l))
            self.assertNotIn("secret", logged + server.errors())

    def test_weights_decide_who_is_served_and_sighup_changes_them(self):
        def tenants(a, b):
            return [{"name": "a", "keys": ["ka"], "weight": a}, {"name": "b", "keys": ["kb"], "weight": b}]

        self.keys(None, tenants(10, 1))
        log = os.path.join(self.folder.name, "access.log")
        with Server("--api-keys", self.path, "--access-log", log, "--parallel", "1") as server:
            def first_ends():
                """Of the first twelve of 24 answers for each that were asked for at once, those for a."""
                def ask(key):
                    status, _, _ = server.ask("POST", "/v1/chat/completions", {**HELLO, "max_tokens": 300},
                                              {"Authorization": "Bearer " + key})
                    self.assertEqual(status, 200)

                def lines():
                    with open(log) as file:
                        return file.readlines()

                before = len(lines())
                threads = [threading.Thread(target=ask, args=("k" + "ab"[i % 2],)) for i in range(48)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                # A line is written after its answer.
                self.assertTrue(wait_until(lambda: len(lines()) - before == 48))
                ends = [json.loads(line)["tenant"] for line in lines()[before:]]
                return ends[:12].count("a")

            self.assertGreaterEqual(first_ends(), 9)
            self.keys(server, tenants(1, 10))
            server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: "read the API keys again" in server.errors()))
            self.assertLessEqual(first_ends(), 3)

    def test_a_bad_key_file_is_said(self):
        for text, word in (("{", "JSON"), ('{"tenants": [{"name": "a"}]}', "keys"), ('{"x": 1}', "tenants")):
            with open(self.path, "w") as file:
                file.write(text)
            result = subprocess.run([QUIRE, "serve", "-m", TINY, "--port", "0", "--api-keys", self.path], capture_output=True,
                                    text=True, timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=["server_test"], verbosity=1)
