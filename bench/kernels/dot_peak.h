// The integer dot-product rate of one core, per ISA: dot_u8s8 of the vector layer on registers.
#pragma once

#include <cstdint>

namespace quire::kernels {

// Runs n_steps times 12 independent dot products of 64 bytes and returns their sum, so that none can be left
// out.
namespace scalar {
int32_t dot_product_run(int64_t n_steps);
}
namespace avx2 {
int32_t dot_product_run(int64_t n_steps);
}
namespace avx512 {
int32_t dot_product_run(int64_t n_steps);
}
namespace avx512vnni {
int32_t dot_product_run(int64_t n_steps);
}

inline constexpr int kDotChains = 12;

}  // namespace quire::kernels
