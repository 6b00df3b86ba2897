#include "tensor/formats/q8_k.h"

#include "tensor/formats/codec.h"

namespace quire {
namespace {

void unpack(const BlockQ8_K& block, const Int8Codes& out) {
  fill_groups(out.scales, block.d, 256);
  for (int i = 0; i < 256; ++i) out.codes[i] = block.qs[i];
}

}  // namespace

void decode_q8_k(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockQ8_K, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_q8_k(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockQ8_K, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
