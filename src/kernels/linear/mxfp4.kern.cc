// MXFP4: E2M1 codes, looked up as doubled values around 16; the scale is the half E8M0 scale.

#include "kernels/linear/blocks32.h"
#include "kernels/linear/kernel_functions.h"
#include "tensor/formats/fp4_values.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct Values {
  uint8_t plus_offset[16];
};
constexpr Values make_values() {
  Values values = {};
  for (int i = 0; i < 16; ++i) values.plus_offset[i] = static_cast<uint8_t>(kFp4Doubled[i] + kFp4Offset);
  return values;
}
constexpr Values kValues = make_values();

struct ValueBody {
  NibbleBody indices;
  explicit ValueBody(const std::byte* at) : indices(at) {}
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return lookup16(indices.codes<kStep>(), kValues.plus_offset);
  }
};

struct MXFP4 {
  static constexpr BlockLayout kLayout = kNibbleLayout;
  static constexpr int kOffset = kFp4Offset;
  static constexpr bool kHasMinimum = false;
  using Body = ValueBody;
  QUIRE_VEC_FN F32 scale(const std::byte* header) {
    return load_bf16(reinterpret_cast<const uint16_t*>(header));
  }
  QUIRE_VEC_FN I32 dot(I32 sum, B64 codes, const int8_t* a) { return dot_u7s8(sum, codes, a); }
};

}  // namespace

void run_mxfp4(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<Blocks32Kernel<MXFP4>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
