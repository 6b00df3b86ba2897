"""llama.cpp's server as xllamacpp carries it, prebuilt (AVX2), with the options of llama-server that burst.py gives."""

import argparse
import signal

import xllamacpp

parser = argparse.ArgumentParser()
parser.add_argument("-m", dest="model")
parser.add_argument("--port", type=int)
parser.add_argument("--threads", type=int)
parser.add_argument("-np", dest="parallel", type=int)
parser.add_argument("-c", dest="ctx", type=int)
parser.add_argument("-b", dest="batch", type=int)
parser.add_argument("-fa", dest="flash", choices=("on", "off"))
parser.add_argument("--kv-unified", action="store_true")
options = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = options.model
params.port = options.port
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
params.n_parallel, params.n_ctx, params.n_batch = options.parallel, options.ctx, options.batch
params.kv_unified = options.kv_unified
params.flash_attn_type = getattr(xllamacpp.llama_flash_attn_type,
                                 "LLAMA_FLASH_ATTN_TYPE_" + ("ENABLED" if options.flash == "on" else "DISABLED"))
server = xllamacpp.Server(params)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
