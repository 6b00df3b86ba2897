// IQ4_NL: 4-bit indices into 16 levels, looked up around 128.

#include "kernels/linear/blocks32.h"
#include "kernels/linear/kernel_functions.h"
#include "tensor/formats/iq4_values.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct Levels {
  uint8_t plus_offset[16];
};
constexpr Levels make_levels() {
  Levels levels = {};
  for (int i = 0; i < 16; ++i) levels.plus_offset[i] = static_cast<uint8_t>(kIq4Values[i] + 128);
  return levels;
}
constexpr Levels kLevels = make_levels();

struct LevelBody {
  NibbleBody indices;
  explicit LevelBody(const std::byte* at) : indices(at) {}
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return lookup16(indices.codes<kStep>(), kLevels.plus_offset);
  }
};

struct IQ4_NL {
  static constexpr BlockLayout kLayout = kNibbleLayout;
  static constexpr int kOffset = 128;
  static constexpr bool kHasMinimum = false;
  using Body = LevelBody;
  QUIRE_VEC_FN F32 scale(const std::byte* header) { return f16_scale(header); }
  QUIRE_VEC_FN I32 dot(I32 sum, B64 codes, const int8_t* a) { return dot_u8s8(sum, codes, a); }
};

}  // namespace

void run_iq4_nl(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<Blocks32Kernel<IQ4_NL>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
