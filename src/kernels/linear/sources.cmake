# Sources of this folder (paths from src/kernels): plain ones, and those compiled once per ISA.
set(QUIRE_LINEAR_SOURCES
  linear/pack_blocks32.cc
  linear/pack_codes.cc
  linear/pack_floats.cc
  linear/pack_k_quants.cc
  linear/packed_formats.cc
  linear/tiling.cc)
set(QUIRE_LINEAR_KERNELS
  linear/blocks32.kern.cc
  linear/floats.kern.cc
  linear/linear_ops.kern.cc
  linear/panel.kern.cc
  linear/q236_k.kern.cc
  linear/q45_k.kern.cc
  linear/quantize.kern.cc
  linear/tables.kern.cc)
