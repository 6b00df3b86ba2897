#include "tensor/formats/q4_k.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ4_K& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  for (int j = 0; j < 8; ++j) {
    fill_groups(out.scales + 2 * j, d * static_cast<float>(k_scale(block.scales, j)), 32);
    fill_groups(out.offsets + 2 * j, -(dmin * static_cast<float>(k_min(block.scales, j))), 32);
    for (int l = 0; l < 32; ++l) out.codes[32 * j + l] = static_cast<int8_t>(q4_k_code(block, j, l));
  }
}

}  // namespace

void decode_q4_k(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ4_K, 256>(unpack, Offsets::kPerGroup, blocks, values, n_elems);
}

void unpack_q4_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ4_K, 256>(unpack, Offsets::kPerGroup, blocks, out, n_elems);
}

}  // namespace quire
