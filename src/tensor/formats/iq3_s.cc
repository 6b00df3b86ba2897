#include "tensor/formats/iq3_s.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/iq_grids.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ3_S& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int j = 0; j < 8; ++j) {
    const int scale = (block.scales[j / 2] >> (4 * (j % 2))) & 15;
    fill_groups(out.scales + 2 * j, d * static_cast<float>(1 + 2 * scale), 32);
    for (int k = 0; k < 8; ++k) {
      const int index = block.qs[8 * j + k] | (((block.qh[j] >> k) & 1) << 8);
      const uint32_t signs = block.signs[4 * j + k / 2];
      put_iq3(kIq3SGrid[index], kIq3SLevels, signs >> (4 * (k % 2)), out.codes + 32 * j + 4 * k);
    }
  }
}

}  // namespace

void decode_iq3_s(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ3_S, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq3_s(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ3_S, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
