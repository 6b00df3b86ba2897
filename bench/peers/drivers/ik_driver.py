"""Driver of ik_llama.cpp, through ik-llama-cpp-python's ctypes API."""

import ctypes
import importlib.util
import pathlib

import protocol
from ggml_driver import GgmlApi, GgmlDriver

# Built from source, libllama.so does not know in which folder libggml.so lies: it finds the one that is loaded.
PACKAGE = pathlib.Path(importlib.util.find_spec("ik_llama_cpp").submodule_search_locations[0])
ctypes.CDLL(str(PACKAGE / "lib" / "libggml.so"), mode=ctypes.RTLD_GLOBAL)

from ik_llama_cpp import _ctypes_api as lib  # noqa: E402


class IkApi(GgmlApi):
    def model_params(self, params, variant):
        params.repack_tensors = variant.get("repack", False)
        params.use_mmap = not params.repack_tensors

    def context_params(self, params, variant):
        params.flash_attn = variant.get("flash_attn", True)

    def remove(self, sequence, position):
        cut = lib._lib.llama_kv_cache_seq_rm
        cut.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32]
        cut.restype = ctypes.c_bool
        return cut(self.ctx, sequence, position, -1)

    def free_model(self):
        lib.llama_free_model(self.model)


if __name__ == "__main__":
    protocol.serve(GgmlDriver(IkApi(lib)))
