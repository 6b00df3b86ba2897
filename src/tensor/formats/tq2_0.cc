#include "tensor/formats/tq2_0.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/ternary.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockTQ2_0& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 256);
  for (int i = 0; i < 256; ++i) {
    const int byte = 32 * (i / 128) + i % 32;
    out.codes[i] = static_cast<int8_t>(((block.qs[byte] >> (2 * (i % 128 / 32))) & 3) - 1);
  }
}

}  // namespace

void decode_tq2_0(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockTQ2_0, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_tq2_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockTQ2_0, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

void encode_tq2_0(const float* values, std::byte* blocks, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % 256 == 0);
  auto* out = reinterpret_cast<BlockTQ2_0*>(blocks);
  for (int64_t b = 0; b < n_elems / 256; ++b, values += 256) {
    BlockTQ2_0& block = out[b];
    const float d = largest_magnitude(values, 256);
    const float inverse = inverse_or_zero(d);
    block.d = f32_to_f16(d);
    for (uint8_t& byte : block.qs) byte = 0;
    for (int i = 0; i < 256; ++i) {
      uint8_t& byte = block.qs[32 * (i / 128) + i % 32];
      byte = static_cast<uint8_t>(byte | (ternary_digit(values[i], inverse) << (2 * (i % 128 / 32))));
    }
  }
}

}  // namespace quire
