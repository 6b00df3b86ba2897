// Q8_0: int8 codes, stored around 128.

#include "kernels/linear/blocks32.h"
#include "kernels/linear/kernel_functions.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct Q8_0 {
  static constexpr BlockLayout kLayout = kQ8_0Layout;
  static constexpr int kOffset = 128;
  static constexpr bool kHasMinimum = false;
  using Body = ByteBody;
  QUIRE_VEC_FN F32 scale(const std::byte* header) { return f16_scale(header); }
  QUIRE_VEC_FN I32 dot(I32 sum, B64 codes, const int8_t* a) { return dot_u8s8(sum, codes, a); }
};

}  // namespace

void run_q8_0(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<Blocks32Kernel<Q8_0>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
