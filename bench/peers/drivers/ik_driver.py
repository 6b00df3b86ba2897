"""Driver of ik_llama.cpp, through ik-llama-cpp-python's ctypes API."""

import ctypes

import protocol
from ggml_driver import MAX_STEP, GgmlDriver
from ik_llama_cpp import _ctypes_api as lib


class IkApi:
    lib = lib

    def __init__(self):
        lib.llama_backend_init()
        self.remove = lib._lib.llama_kv_cache_seq_rm
        self.remove.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32]
        self.remove.restype = ctypes.c_bool

    def load(self, path, variant):
        params = lib.llama_model_default_params()
        params.n_gpu_layers = 0
        params.repack_tensors = variant.get("repack", False)
        params.use_mmap = not params.repack_tensors
        self.model = lib.llama_model_load_from_file(path, params)
        if not self.model:
            raise RuntimeError("the model cannot be loaded")

    def context(self, n_ctx, n_seq, threads, variant):
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch, params.n_seq_max = n_ctx * n_seq, MAX_STEP, MAX_STEP, n_seq
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn = variant.get("flash_attn", True)
        self.ctx = lib.llama_init_from_model(self.model, params)
        if not self.ctx:
            raise RuntimeError("no context")

    def n_vocab(self):
        return lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))

    def forget(self, sequence, position):
        if not self.remove(self.ctx, sequence, position, -1):
            raise RuntimeError("the sequence cannot be cut")

    def free(self):
        lib.llama_free(self.ctx)
        lib.llama_free_model(self.model)


if __name__ == "__main__":
    protocol.serve(GgmlDriver(IkApi()))
