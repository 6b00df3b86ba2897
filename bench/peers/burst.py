#!/usr/bin/env python3
"""A burst through two servers: by default 64 requests at once, with prompts of 500 tokens of which 400 are common.

    bench/peers/burst.py --quire build/release/bin/quire --model FILE [--llama-server PROGRAM] [--rounds 3] [--requests 64]
                         [--prompt 500] [--common 400] [--answer 32]

Both get the same token ids over the same API (llama.cpp's /completion, streamed), the same threads, and room for all
requests at once. Servers are started anew for every round, so that nobody begins with the prefix in memory; rounds
alternate. llama-server takes part in variants, and its best counts. Prints a table of medians, and with --json one object.

bench/peers/install_server.py builds llama-server for this processor (half an hour on two cores), or, with --prebuilt, takes
what PyPI has (xllamacpp; AVX2).
"""

import argparse
import asyncio
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import urllib.request

import peers

LLAMA_VARIANTS = tuple((*kv, *fa) for kv in ((), ("--kv-unified",)) for fa in (("-fa", "on"), ("-fa", "off")))
PREBUILT = (str(peers.home() / "llama-server" / "bin" / "python"), str(peers.HERE / "drivers" / "llama_server_driver.py"))


def prompts(args):
    """Ids of text, cut to length: [requests][prompt]."""
    def ids(text):
        out = subprocess.run([args.quire, "tokenize", "-m", args.model, "-p", text, "--json"], capture_output=True, text=True,
                             check=True)
        return json.loads(out.stdout)["ids"]

    sentence = "The ship had left the harbour early and nobody on the quay had waved. "  # of more than 12 tokens
    common = ids(sentence * (args.common // 12 + 8))[:args.common]
    own = ids(" ".join("Passenger %d asked for %d maps, %d ropes and a lamp." % (i, i * 7 % 13, i * 5 % 11) for i in range(900)))
    n = args.prompt - args.common
    assert len(common) == args.common and len(own) >= n * args.requests
    return [common + own[i * n:(i + 1) * n] for i in range(args.requests)]


async def ask(port, prompt, n_answer):
    """(seconds to the first token, to the end, tokens)"""
    body = json.dumps({"prompt": prompt, "n_predict": n_answer, "temperature": 0, "ignore_eos": True, "stream": True,
                       "cache_prompt": True}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begin, first, tokens = time.perf_counter(), None, 0
    writer.write(b"POST /completion HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(body) + body)
    while line := await reader.readline():
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        if event.get("stop"):
            tokens = event["tokens_predicted"]
        elif first is None:
            first = time.perf_counter() - begin
    writer.close()
    if tokens != n_answer:
        sys.exit("a request was answered with %d tokens" % tokens)
    return first, time.perf_counter() - begin


async def burst(port, texts, n_answer):
    begin = time.perf_counter()
    answers = await asyncio.gather(*[ask(port, text, n_answer) for text in texts])
    return {"first_token_p50": statistics.median(a[0] for a in answers), "first_token_max": max(a[0] for a in answers),
            "total": time.perf_counter() - begin}


def wait_for(process, port):
    while True:
        if process.poll() is not None:
            sys.exit("a server did not start: " + " ".join(process.args))
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/health" % port) as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.1)


def run(command, port, texts, n_answer):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(process, port)
        asyncio.run(burst(port, [texts[0][-8:]], n_answer))  # a small one, so that nothing is met for the first time
        return asyncio.run(burst(port, texts, n_answer))
    finally:
        process.terminate()
        process.wait()


def contestants(args):
    """{name: command}"""
    ctx = args.prompt + args.answer + 108
    common = ["-m", args.model, "--port", str(args.port), "--threads", str(args.threads)]
    out = {"quire": [args.quire, "serve", *common, "--parallel", str(args.requests), "--ctx", str(ctx)]}
    built = peers.home() / "llama-server" / "bin" / "llama-server"
    name, program = "llama-server", [args.llama_server or str(built)]
    if not args.llama_server and not built.exists():
        name, program = "llama-server (prebuilt)", PREBUILT
    if pathlib.Path(program[0]).exists():
        for variant in LLAMA_VARIANTS[:args.variants]:
            out[" ".join((name, *variant))] = [*program, *common, "-np", str(args.requests), "-c", str(ctx * args.requests),
                                               "-b", "2048", *variant]
    return out


def print_table(medians):
    figures = ("first_token_p50", "first_token_max", "total")
    print("%-44s %16s %12s %12s" % ("", "first token p50", "slowest", "total"))
    for name, m in medians.items():
        print("%-44s %14.2f s %10.2f s %10.2f s" % (name, *[m[k] for k in figures]))
    if len(medians) > 1:
        own, other = medians.values()
        print("%-44s %14.1f x %10.1f x %10.1f x" % ("quire is faster by", *[other[k] / own[k] for k in figures]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quire", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--llama-server", help="default: what install_server.py brought")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=500, help="tokens of each prompt")
    parser.add_argument("--common", type=int, default=400, help="the first of them, which all prompts have in common")
    parser.add_argument("--answer", type=int, default=32, help="tokens of each answer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variants", type=int, default=len(LLAMA_VARIANTS), help="of llama-server's settings, to try")
    parser.add_argument("--port", type=int, default=18431)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    texts = prompts(args)
    best = None
    rounds = {name: [] for name in contestants(args)}
    for i in range(args.rounds):
        for name, command in contestants(args).items():
            if i == 0 or name in ("quire", best):
                rounds[name].append(run(command, args.port, texts, args.answer))
        best = min((n for n in rounds if n != "quire"), key=lambda n: rounds[n][0]["total"], default=None)
    medians = {name: {key: statistics.median(r[key] for r in rounds[name]) for key in rounds[name][0]}
               for name in ("quire", best) if name}
    if args.json:
        print(json.dumps({"model": os.path.basename(args.model), "threads": args.threads, "requests": args.requests,
                          "rounds": args.rounds, **medians}))
    else:
        print_table(medians)


if __name__ == "__main__":
    main()
