#include "tensor/formats/iq2_xs.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/iq_grids.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ2_XS& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int group = 0; group < 16; ++group) {
    const int scale = (block.scales[group / 2] >> (4 * (group % 2))) & 15;
    out.scales[group] = d * (0.5f + static_cast<float>(scale)) * 0.25f;
  }
  for (int g = 0; g < 32; ++g) {
    const uint32_t word = load_u16(block.qs + 2 * g);
    put_iq2(kIq2XsGrid[word & 511], sign_mask(word >> 9), out.codes + 8 * g);
  }
}

}  // namespace

void decode_iq2_xs(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ2_XS, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq2_xs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ2_XS, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
