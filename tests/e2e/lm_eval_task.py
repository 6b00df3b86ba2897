"""lm-evaluation-harness against `quire serve`: a small task of its own through the harness's `local-completions`, unchanged.

usage: lm_eval_task.py QUIRE TEST_DATA [MODEL]

The harness sends every context with every answer, asks for the log-probabilities of the prompt (`echo`), and adds up those of
the answer; the ids come from the server too (/tokenizer_info, /tokenize), so it needs no tokenizer of its own. Checked: that
it runs, and that its sums are those of the server's own continuation. Needs the package lm-eval[api], in this Python or one
that a virtual environment can install; says so and exits 0 when there is neither. Not part of the fast tests."""

import json
import os
import subprocess
import sys

from client_package import check, run_with

run_with("lm-eval[api]", module="lm_eval")

from server_case import TINY, Server

FACTS = [("The capital of France is", ["Paris", "Rome", "a spoon"], 0), ("The opposite of hot is", ["green", "cold", "seven"], 1),
         ("Two plus two is", ["four", "nine", "blue"], 0), ("The sun rises in the", ["east", "drawer", "shoe"], 0),
         ("Water freezes to", ["ice", "bread", "music"], 0), ("A dog is an", ["animal", "number", "hour"], 0),
         ("Cats like to drink", ["milk", "stones", "roads"], 0), ("The color of grass is", ["loud", "green", "twelve"], 1),
         ("A week has seven", ["days", "oceans", "chairs"], 0), ("Fish live in the", ["water", "alphabet", "clock"], 0)]

TASK = """task: quire_facts
dataset_path: json
dataset_kwargs:
  data_files: {test: %s}
test_split: test
output_type: multiple_choice
doc_to_text: question
doc_to_choice: choices
doc_to_target: answer
metric_list: [{metric: acc}]
"""


def write_task(folder):
    data = os.path.join(folder, "facts.jsonl")
    with open(data, "w") as file:
        for question, choices, answer in FACTS:
            file.write(json.dumps({"question": question, "choices": choices, "answer": answer}) + "\n")
    with open(os.path.join(folder, "quire_facts.yaml"), "w") as file:
        file.write(TASK % data)


def logged(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            if name.startswith("samples_"):
                with open(os.path.join(path, name)) as file:
                    return [json.loads(line) for line in file]
    sys.exit("FAILED: no samples were written")


def continued(server, context, text):
    """The log-probability of `text` after `context`: token by token, as the model's own predictions."""
    ids = [server.post("/tokenize", {"content": part})[1]["tokens"] for part in (context, context + text)]
    total = 0
    for i in range(len(ids[0]), len(ids[1])):
        tops = server.post("/completion", {"prompt": ids[1][:i], "n_predict": 1, "n_probs": 20, "ignore_eos": True, "logit_bias": [
            [ids[1][i], 1e6]], "temperature": 0})[1]["completion_probabilities"][0]
        assert tops["id"] == ids[1][i], tops
        total += tops["logprob"]
    return total


def main():
    model = sys.argv[3] if len(sys.argv) > 3 else TINY
    with Server("--parallel", "4", model=model, threads=2) as server:
        folder = server.folder.name
        write_task(folder)
        args = "model=m,base_url=http://127.0.0.1:%d/v1/completions,num_concurrent=4,max_retries=1" % server.port
        result = subprocess.run([sys.executable, "-m", "lm_eval", "--model", "local-completions", "--model_args", args, "--tasks",
                                 "quire_facts", "--include_path", folder, "--output_path", os.path.join(folder, "out"),
                                 "--log_samples"], env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": folder})
        check(result.returncode == 0, "the harness ran")
        samples = logged(os.path.join(folder, "out"))
        check(len(samples) == len(FACTS), "%d questions" % len(samples))
        for sample in samples[:3]:
            for answer, choice in zip(sample["resps"], sample["doc"]["choices"]):
                got, own = float(answer[0][0]), continued(server, sample["doc"]["question"], " " + choice)
                check(abs(got - own) < 1e-3 * max(1, abs(own)), "%s %s: %.4f, continued %.4f" % (sample["doc"]["question"], choice, got, own))
        print("accuracy: %.2f" % (sum(s["acc"] for s in samples) / len(samples)))
        check(server.stop() == 0, "shutdown")


main()
