#include "tensor/formats/q5_0.h"

#include <cmath>

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ5_0& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 32);
  for (int i = 0; i < 32; ++i) out.codes[i] = static_cast<int8_t>(q5_0_code(block, i) - 16);
}

}  // namespace

void decode_q5_0(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ5_0, 32>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q5_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ5_0, 32>(unpack, Offsets::kNone, blocks, out, n_elems);
}

// The value of largest magnitude (the first on a tie) becomes code 0, so the scale carries its sign.
void encode_q5_0(const float* values, std::byte* blocks, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % 32 == 0);
  auto* out = reinterpret_cast<BlockQ5_0*>(blocks);
  for (int64_t b = 0; b < n_elems / 32; ++b, values += 32) {
    BlockQ5_0& block = out[b];
    float extreme = 0.0f;
    for (int i = 0; i < 32; ++i) {
      if (std::fabs(values[i]) > std::fabs(extreme)) extreme = values[i];
    }
    const float d = extreme / -16.0f;
    const float inverse = inverse_or_zero(d);
    block.d = f32_to_f16(d);
    for (uint8_t& bits : block.qh) bits = 0;
    for (int i = 0; i < 16; ++i) {
      const int low = truncate_to(values[i] * inverse + 16.5f, 0, 31);
      const int high = truncate_to(values[i + 16] * inverse + 16.5f, 0, 31);
      block.qs[i] = static_cast<uint8_t>((low & 15) | ((high & 15) << 4));
      block.qh[i / 8] = static_cast<uint8_t>(block.qh[i / 8] | ((low >> 4) << (i % 8)));
      block.qh[2 + i / 8] = static_cast<uint8_t>(block.qh[2 + i / 8] | ((high >> 4) << (i % 8)));
    }
  }
}

}  // namespace quire
