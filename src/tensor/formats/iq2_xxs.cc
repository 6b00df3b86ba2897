#include "tensor/formats/iq2_xxs.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/iq_grids.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ2_XXS& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int j = 0; j < 8; ++j) {
    const uint8_t* indices = block.qs + 8 * j;
    const uint32_t word = load_u32(indices + 4);
    fill_groups(out.scales + 2 * j, d * (0.5f + static_cast<float>(word >> 28)) * 0.25f, 32);
    for (int g = 0; g < 4; ++g) {
      put_iq2(kIq2XxsGrid[indices[g]], sign_mask((word >> (7 * g)) & 127), out.codes + 32 * j + 8 * g);
    }
  }
}

}  // namespace

void decode_iq2_xxs(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ2_XXS, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq2_xxs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ2_XXS, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
