// The entry points of one ISA's linear kernels, in its namespace: what *.kern.cc files define and
// linear_ops.cc collects.
#pragma once

#include "kernels/linear.h"

#define QUIRE_LINEAR_KERNEL(name, format) \
  void run_##name(const LinearArgs& args, int64_t group_begin, int64_t group_end);

namespace quire::kernels {

namespace scalar {
#include "kernels/linear/kernels.inc"
void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);
}  // namespace scalar
namespace avx2 {
#include "kernels/linear/kernels.inc"
void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);
}  // namespace avx2
namespace avx512 {
#include "kernels/linear/kernels.inc"
void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);
}  // namespace avx512
namespace avx512vnni {
#include "kernels/linear/kernels.inc"
void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);
}  // namespace avx512vnni
namespace amx {
#include "kernels/linear/kernels.inc"
void quantize_rows(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);
}  // namespace amx

}  // namespace quire::kernels

#undef QUIRE_LINEAR_KERNEL
