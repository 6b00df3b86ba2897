#include "tensor/formats/iq1_s.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/iq_grids.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ1_S& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int j = 0; j < 8; ++j) {
    const int word = load_u16(block.qh + 2 * j);
    fill_groups(out.scales + 2 * j, d * static_cast<float>(2 * ((word >> 12) & 7) + 1) * 0.125f, 32);
    const int shift = (word & 0x8000) != 0 ? -1 : 1;
    for (int g = 0; g < 4; ++g) {
      const int index = block.qs[4 * j + g] | (((word >> (3 * g)) & 7) << 8);
      put_iq1(kIq1Grid[index], shift, out.codes + 32 * j + 8 * g);
    }
  }
}

}  // namespace

void decode_iq1_s(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ1_S, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq1_s(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ1_S, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
