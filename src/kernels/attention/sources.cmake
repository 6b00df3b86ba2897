# Kernel sources of this folder, compiled once per ISA (paths from src/kernels).
set(QUIRE_ATTENTION_KERNELS attention/attention.kern.cc attention/latent.kern.cc)
