// Q4_1: 4-bit codes above a minimum.

#include "kernels/linear/blocks32.h"
#include "kernels/linear/kernel_functions.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct Q4_1 {
  static constexpr BlockLayout kLayout = kQ4_1Layout;
  static constexpr int kOffset = 0;
  static constexpr bool kHasMinimum = true;
  using Body = NibbleBody;
  QUIRE_VEC_FN F32 scale(const std::byte* header) { return f16_scale(header); }
  QUIRE_VEC_FN I32 dot(I32 sum, B64 codes, const int8_t* a) { return dot_u7s8(sum, codes, a); }
};

}  // namespace

void run_q4_1(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<Blocks32Kernel<Q4_1>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
