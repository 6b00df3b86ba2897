#include "tensor/formats/q2_0.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ2_0& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 64);
  for (int i = 0; i < 64; ++i) {
    out.codes[i] = static_cast<int8_t>(((block.qs[i / 4] >> (2 * (i % 4))) & 3) - 1);
  }
}

}  // namespace

void decode_q2_0(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ2_0, 64>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q2_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ2_0, 64>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
