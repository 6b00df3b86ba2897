"""Driver of llama.cpp, through llama-cpp-python's low-level API."""

import llama_cpp as lib
import protocol
from ggml_driver import GgmlApi, GgmlDriver


class LlamaApi(GgmlApi):
    def model_params(self, params, variant):
        pass

    def context_params(self, params, variant):
        params.flash_attn_type = 1 if variant.get("flash_attn") else 0

    def remove(self, sequence, position):
        return lib.llama_memory_seq_rm(lib.llama_get_memory(self.ctx), sequence, position, -1)

    def free_model(self):
        lib.llama_model_free(self.model)


if __name__ == "__main__":
    protocol.serve(GgmlDriver(LlamaApi(lib)))
