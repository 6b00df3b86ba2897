"""Driver of OpenVINO GenAI, which reads GGUF files of some architectures."""

import time

import numpy
import openvino
import openvino_genai as genai
import protocol
from generate_driver import GenerateDriver


# One size for every cell: loading takes long.
MAX_TOKENS = 8192


class OpenvinoDriver(GenerateDriver):
    opened = None

    def open(self, model, n_ctx, n_seq, threads, variant):
        if self.opened == (model, variant["attention"]):
            return {"seconds": 0}
        self.opened = (model, variant["attention"])
        start = time.perf_counter()
        options = {"ATTENTION_BACKEND": variant["attention"], "INFERENCE_NUM_THREADS": threads}
        if variant["attention"] == "PA":
            # A prompt that was computed before must be computed again.
            options["scheduler_config"] = genai.SchedulerConfig()
            options["scheduler_config"].enable_prefix_caching = False
            options["scheduler_config"].max_num_batched_tokens = MAX_TOKENS
        self.pipe = genai.LLMPipeline(model, "CPU", **options)
        self._generate([[1]], 1)
        seconds = time.perf_counter() - start
        self.n_vocab = len(self.pipe.get_tokenizer().get_vocab())
        return {"seconds": seconds}

    def close(self):
        self.pipe, self.opened = None, None

    def _generate(self, prompts, n_tokens):
        config = genai.GenerationConfig()
        config.max_new_tokens, config.min_new_tokens = n_tokens, n_tokens
        config.ignore_eos, config.do_sample = True, False
        config.apply_chat_template = False
        ids = openvino.Tensor(numpy.array(prompts, dtype=numpy.int64))
        mask = openvino.Tensor(numpy.ones((len(prompts), len(prompts[0])), dtype=numpy.int64))
        start = time.perf_counter()
        result = self.pipe.generate(genai.TokenizedInputs(ids, mask), config)
        return time.perf_counter() - start, result

    def greedy(self, ids, n_tokens):
        return {"ids": list(self._generate([ids], n_tokens)[1].tokens[0])}


if __name__ == "__main__":
    protocol.serve(OpenvinoDriver())
