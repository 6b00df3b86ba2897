#include "tensor/formats/iq1_m.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/iq_grids.h"
#include "tensor/half.h"

namespace quire {
namespace {

// The f16 scale is spread over the top nibbles of the four scale words, lowest first.
float block_scale(const BlockIQ1_M& block) {
  int half = 0;
  for (int i = 0; i < 4; ++i) half |= (load_u16(block.scales + 2 * i) >> 12) << (4 * i);
  return f16_to_f32(static_cast<uint16_t>(half));
}

void unpack(const BlockIQ1_M& block, const Int8Codes& out) {
  const float d = block_scale(block);
  for (int group = 0; group < 16; ++group) {
    const int scale = (load_u16(block.scales + 2 * (group / 4)) >> (3 * (group % 4))) & 7;
    out.scales[group] = d * static_cast<float>(2 * scale + 1) * 0.125f;
  }
  for (int g = 0; g < 32; ++g) {
    const int bits = block.qh[g / 2] >> (4 * (g % 2));
    const int index = block.qs[g] | ((bits & 7) << 8);
    put_iq1(kIq1Grid[index], (bits & 8) != 0 ? -1 : 1, out.codes + 8 * g);
  }
}

}  // namespace

void decode_iq1_m(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ1_M, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq1_m(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ1_M, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
