#include "tensor/formats/iq4_xs.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ4_XS& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int j = 0; j < 8; ++j) {
    fill_groups(out.scales + 2 * j, d * static_cast<float>(iq4_xs_scale(block, j)), 32);
    for (int l = 0; l < 32; ++l) out.codes[32 * j + l] = kIq4Values[iq4_xs_code(block, j, l)];
  }
}

}  // namespace

void decode_iq4_xs(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ4_XS, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq4_xs(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ4_XS, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
