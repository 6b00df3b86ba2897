"""Driver of llama.cpp, through llama-cpp-python's low-level API."""

import llama_cpp as lib
import protocol
from ggml_driver import MAX_STEP, GgmlDriver


class LlamaApi:
    lib = lib

    def __init__(self):
        lib.llama_backend_init()

    def load(self, path, variant):
        params = lib.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = lib.llama_model_load_from_file(path, params)
        if not self.model:
            raise RuntimeError("the model cannot be loaded")

    def context(self, n_ctx, n_seq, threads, variant):
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = n_ctx * n_seq, MAX_STEP, MAX_STEP, n_seq
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = 1 if variant.get("flash_attn") else 0
        self.ctx = lib.llama_init_from_model(self.model, params)
        if not self.ctx:
            raise RuntimeError("no context")

    def n_vocab(self):
        return lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))

    def forget(self, sequence, position):
        if not lib.llama_memory_seq_rm(lib.llama_get_memory(self.ctx), sequence, position, -1):
            raise RuntimeError("the sequence cannot be cut")

    def free(self):
        lib.llama_free(self.ctx)
        lib.llama_model_free(self.model)


if __name__ == "__main__":
    protocol.serve(GgmlDriver(LlamaApi()))
