#include "tensor/formats/q2_k.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ2_K& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  for (int group = 0; group < 16; ++group) {
    out.scales[group] = d * static_cast<float>(q2_k_scale(block, group));
    out.offsets[group] = -(dmin * static_cast<float>(q2_k_min(block, group)));
    for (int l = 0; l < 16; ++l) out.codes[16 * group + l] = static_cast<int8_t>(q2_k_code(block, group, l));
  }
}

}  // namespace

void decode_q2_k(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ2_K, 256>(unpack, Offsets::kPerGroup, blocks, values, n_elems);
}

void unpack_q2_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ2_K, 256>(unpack, Offsets::kPerGroup, blocks, out, n_elems);
}

}  // namespace quire
