#include "tensor/formats/iq3_xxs.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/iq_grids.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ3_XXS& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int j = 0; j < 8; ++j) {
    const uint32_t word = load_u32(block.signs + 4 * j);
    fill_groups(out.scales + 2 * j, d * (0.5f + static_cast<float>(word >> 28)) * 0.5f, 32);
    for (int g = 0; g < 4; ++g) {
      const uint32_t signs = sign_mask((word >> (7 * g)) & 127);
      const uint8_t* index = block.qs + 8 * j + 2 * g;
      int8_t* codes = out.codes + 32 * j + 8 * g;
      put_iq3(kIq3XxsGrid[index[0]], kIq3XxsLevels, signs, codes);
      put_iq3(kIq3XxsGrid[index[1]], kIq3XxsLevels, signs >> 4, codes + 4);
    }
  }
}

}  // namespace

void decode_iq3_xxs(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ3_XXS, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq3_xxs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ3_XXS, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
