#include "tensor/formats/q8_0.h"

#include <algorithm>
#include <cmath>

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ8_0& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 32);
  for (int i = 0; i < 32; ++i) out.codes[i] = block.qs[i];
}

}  // namespace

void decode_q8_0(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ8_0, 32>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q8_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ8_0, 32>(unpack, Offsets::kNone, blocks, out, n_elems);
}

// Nearest code, half away from zero; the division by d happens before d is rounded to f16.
void encode_q8_0(const float* values, std::byte* blocks, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % 32 == 0);
  auto* out = reinterpret_cast<BlockQ8_0*>(blocks);
  for (int64_t b = 0; b < n_elems / 32; ++b, values += 32) {
    BlockQ8_0& block = out[b];
    float amax = 0.0f;
    for (int i = 0; i < 32; ++i) amax = std::max(amax, std::fabs(values[i]));
    const float d = amax / 127.0f;
    const float inverse = inverse_or_zero(d);
    block.d = f32_to_f16(d);
    for (int i = 0; i < 32; ++i) {
      block.qs[i] = static_cast<int8_t>(truncate_to(std::round(values[i] * inverse), -127, 127));
    }
  }
}

}  // namespace quire
