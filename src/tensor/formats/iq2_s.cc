#include "tensor/formats/iq2_s.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/iq_grids.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ2_S& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int group = 0; group < 16; ++group) {
    const int scale = (block.scales[group / 2] >> (4 * (group % 2))) & 15;
    out.scales[group] = d * (0.5f + static_cast<float>(scale)) * 0.25f;
  }
  for (int g = 0; g < 32; ++g) {
    const int index = block.qs[g] | (((block.qh[g / 4] >> (2 * (g % 4))) & 3) << 8);
    put_iq2(kIq2SGrid[index], block.signs[g], out.codes + 8 * g);
  }
}

}  // namespace

void decode_iq2_s(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ2_S, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq2_s(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ2_S, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
