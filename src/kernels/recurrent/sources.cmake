# Kernel sources of this folder, compiled once per ISA (paths from src/kernels).
set(QUIRE_RECURRENT_KERNELS recurrent/channel_scan.kern.cc recurrent/conv.kern.cc recurrent/delta.kern.cc recurrent/scan.kern.cc recurrent/recurrent_ops.kern.cc)
