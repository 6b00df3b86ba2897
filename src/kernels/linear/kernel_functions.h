// The entry points of one ISA's linear kernels: what *.kern.cc files here define and linear_ops.kern.cc
// collects.
#pragma once

#include "kernels/linear.h"

#if !defined(QUIRE_ISA)
#error "kernels/linear/kernel_functions.h is for *.kern.cc files, which quire_kernels() compiles once per ISA"
#endif

namespace quire::kernels::QUIRE_ISA {

#define QUIRE_LINEAR_KERNEL(name, format) \
  void run_##name(const LinearArgs& args, int64_t group_begin, int64_t group_end);
#include "kernels/linear/kernels.inc"
#undef QUIRE_LINEAR_KERNEL

void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);

}  // namespace quire::kernels::QUIRE_ISA
