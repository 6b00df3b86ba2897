#include "tensor/formats/mxfp4.h"

#include <algorithm>
#include <cmath>

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockMXFP4& block, const Int8Codes& out) {
  fill_groups(out.scales, e8m0_half(block.e), 32);
  for (int i = 0; i < 32; ++i) out.codes[i] = kFp4Doubled[mxfp4_code(block, i)];
}

// The code whose value is nearest to `value`, the first in code order on a tie.
int nearest_code(float value, float half_scale) {
  int best = 0;
  float best_error = std::fabs(value);
  for (int code = 1; code < 16; ++code) {
    const float error = std::fabs(half_scale * static_cast<float>(kFp4Doubled[code]) - value);
    if (error < best_error) {
      best = code;
      best_error = error;
    }
  }
  return best;
}

// E8M0 code of 2^(floor(log2 amax) - 2): the largest value then lies in [4, 8) steps, of which 6 is the last
// level. Below 2^-125 there is no smaller scale to go to; the reference wraps around there.
uint8_t scale_code(float amax) {
  const int exponent_field = static_cast<int>(f32_bits(amax) >> 23);  // floor(log2 amax) + 127
  return static_cast<uint8_t>(std::max(exponent_field - 2, 0));
}

}  // namespace

void decode_mxfp4(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockMXFP4, 32>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_mxfp4(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockMXFP4, 32>(unpack, Offsets::kNone, blocks, out, n_elems);
}

void encode_mxfp4(const float* values, std::byte* blocks, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % 32 == 0);
  auto* out = reinterpret_cast<BlockMXFP4*>(blocks);
  for (int64_t b = 0; b < n_elems / 32; ++b, values += 32) {
    BlockMXFP4& block = out[b];
    float amax = 0.0f;
    for (int i = 0; i < 32; ++i) amax = std::max(amax, std::fabs(values[i]));
    block.e = scale_code(amax);
    const float half_scale = e8m0_half(block.e);
    for (int i = 0; i < 16; ++i) {
      const int low = nearest_code(values[i], half_scale);
      const int high = nearest_code(values[i + 16], half_scale);
      block.qs[i] = static_cast<uint8_t>(low | (high << 4));
    }
  }
}

}  // namespace quire
