#include "tensor/formats/q4_1.h"

#include <algorithm>

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ4_1& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 32);
  fill_groups(out.offsets, f16_to_f32(block.m), 32);
  for (int i = 0; i < 32; ++i) out.codes[i] = static_cast<int8_t>(q4_1_code(block, i));
}

}  // namespace

void decode_q4_1(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ4_1, 32>(unpack, Offsets::kPerGroup, blocks, values, n_elems);
}

void unpack_q4_1(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ4_1, 32>(unpack, Offsets::kPerGroup, blocks, out, n_elems);
}

// Codes 0 and 15 are the smallest and the largest value of the block.
void encode_q4_1(const float* values, std::byte* blocks, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % 32 == 0);
  auto* out = reinterpret_cast<BlockQ4_1*>(blocks);
  for (int64_t b = 0; b < n_elems / 32; ++b, values += 32) {
    BlockQ4_1& block = out[b];
    const auto [smallest, largest] = std::minmax_element(values, values + 32);
    const float m = *smallest;
    const float d = (*largest - m) / 15.0f;
    const float inverse = inverse_or_zero(d);
    block.d = f32_to_f16(d);
    block.m = f32_to_f16(m);
    for (int i = 0; i < 16; ++i) {
      const int low = truncate_to((values[i] - m) * inverse + 0.5f, 0, 15);
      const int high = truncate_to((values[i + 16] - m) * inverse + 0.5f, 0, 15);
      block.qs[i] = static_cast<uint8_t>(low | (high << 4));
    }
  }
}

}  // namespace quire
