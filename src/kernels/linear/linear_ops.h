// The linear kernels of each ISA; kernel_table.cc collects them. Constant data, thread safe.
#pragma once

#include "kernels/isa.h"
#include "kernels/linear.h"

namespace quire::kernels {

namespace scalar {
inline constexpr Isa kIsa = Isa::kScalar;
LinearOps linear_ops();
}  // namespace scalar
namespace avx2 {
inline constexpr Isa kIsa = Isa::kAvx2;
LinearOps linear_ops();
}  // namespace avx2
namespace avx512 {
inline constexpr Isa kIsa = Isa::kAvx512;
LinearOps linear_ops();
}  // namespace avx512
namespace avx512vnni {
inline constexpr Isa kIsa = Isa::kAvx512Vnni;
LinearOps linear_ops();
}  // namespace avx512vnni
namespace amx {
inline constexpr Isa kIsa = Isa::kAmx;
LinearOps linear_ops();
}  // namespace amx

}  // namespace quire::kernels
