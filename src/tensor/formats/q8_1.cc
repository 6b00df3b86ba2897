#include "tensor/formats/q8_1.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockQ8_1& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 32);
  for (int i = 0; i < 32; ++i) out.codes[i] = block.qs[i];
}

}  // namespace

void decode_q8_1(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ8_1, 32>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q8_1(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ8_1, 32>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
