#include "tensor/formats/q6_k.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ6_K& block, const Int8Codes& out) {
  const float d = f16_to_f32(block.d);
  for (int group = 0; group < 16; ++group) out.scales[group] = d * static_cast<float>(block.scales[group]);
  for (int run = 0; run < 8; ++run) {
    for (int l = 0; l < 32; ++l) out.codes[32 * run + l] = static_cast<int8_t>(q6_k_code(block, run, l));
  }
}

}  // namespace

void decode_q6_k(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ6_K, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q6_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ6_K, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
