#include "tensor/formats/q1_0.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ1_0& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 128);
  for (int i = 0; i < 128; ++i) {
    out.codes[i] = static_cast<int8_t>(2 * ((block.qs[i / 8] >> (i % 8)) & 1) - 1);
  }
}

}  // namespace

void decode_q1_0(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ1_0, 128>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q1_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ1_0, 128>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
