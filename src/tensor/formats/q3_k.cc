#include "tensor/formats/q3_k.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ3_K& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int group = 0; group < 16; ++group) {
    out.scales[group] = d * static_cast<float>(q3_k_scale(block, group));
    for (int l = 0; l < 16; ++l) out.codes[16 * group + l] = static_cast<int8_t>(q3_k_code(block, group, l));
  }
}

}  // namespace

void decode_q3_k(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ3_K, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q3_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ3_K, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
