"""Driver of vLLM on the CPU, in one process. It has no kernels for the file's formats: the weights are decoded to bf16
once, into a folder beside the peer, and everything is computed in bf16."""

import os
import pathlib
import sys
import time

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ["VLLM_CPU_KVCACHE_SPACE"] = "3"
os.environ["VLLM_LOGGING_LEVEL"] = "WARNING"
os.environ["HF_HUB_OFFLINE"] = "1"

import protocol
from generate_driver import GenerateDriver


def decoded(model):
    """The folder with the model in bf16."""
    import torch
    import transformers

    source = pathlib.Path(model)
    folder = pathlib.Path(sys.prefix) / "decoded" / source.stem
    if not (folder / "config.json").exists():
        loaded = transformers.AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name,
                                                                  dtype=torch.bfloat16)
        # What was loaded is marked as quantised, which cannot be saved; the same weights in a plain model can.
        config = loaded.config
        config.quantization_config = None
        plain = type(loaded)(config).to(torch.bfloat16)
        plain.load_state_dict(loaded.state_dict())
        plain.save_pretrained(folder)
    return str(folder)


# One size for every cell: an engine cannot be made twice in a process.
MAX_CONTEXT, MAX_SEQUENCES = 1024, 32


class VllmDriver(GenerateDriver):
    llm = None

    def open(self, model, n_ctx, n_seq, threads, variant):
        if self.llm is not None:
            return {"seconds": 0}
        os.environ["OMP_NUM_THREADS"] = str(threads)
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", f"0-{threads - 1}")
        folder = decoded(model)
        import vllm
        self.vllm = vllm
        start = time.perf_counter()
        self.llm = vllm.LLM(model=folder, skip_tokenizer_init=True, dtype="bfloat16", max_model_len=MAX_CONTEXT,
                            max_num_seqs=MAX_SEQUENCES, enable_prefix_caching=False, max_num_batched_tokens=4096,
                            enforce_eager=True)
        self.n_vocab = self.llm.llm_engine.model_config.get_vocab_size()
        self._generate([[1]], 1)
        return {"seconds": time.perf_counter() - start}

    def close(self):
        self.llm = None

    def _generate(self, prompts, n_tokens):
        params = self.vllm.SamplingParams(temperature=0, max_tokens=n_tokens, min_tokens=n_tokens, ignore_eos=True,
                                          detokenize=False)
        start = time.perf_counter()
        outputs = self.llm.generate([{"prompt_token_ids": ids} for ids in prompts], params, use_tqdm=False)
        return time.perf_counter() - start, outputs

    def greedy(self, ids, n_tokens):
        return {"ids": list(self._generate([ids], n_tokens)[1][0].outputs[0].token_ids)}


if __name__ == "__main__":
    protocol.serve(VllmDriver())
