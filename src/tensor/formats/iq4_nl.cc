#include "tensor/formats/iq4_nl.h"

#include "tensor/formats/codec.h"
#include "tensor/half.h"

namespace quire {
namespace {

void unpack(const BlockIQ4_NL& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 32);
  for (int i = 0; i < 32; ++i) out.codes[i] = kIq4Values[iq4_nl_code(block, i)];
}

}  // namespace

void decode_iq4_nl(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockIQ4_NL, 32>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_iq4_nl(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockIQ4_NL, 32>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
