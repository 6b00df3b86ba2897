#include "tensor/formats/nvfp4.h"

#include "tensor/formats/codec.h"

namespace quire {
namespace {

void unpack(const BlockNVFP4& block, const Int8Codes& out) {
  for (int g = 0; g < 4; ++g) {
    out.scales[g] = ue4m3_half(block.d[g]);
    for (int l = 0; l < 16; ++l) out.codes[16 * g + l] = kFp4Doubled[nvfp4_code(block, g, l)];
  }
}

}  // namespace

void decode_nvfp4(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockNVFP4, 64>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_nvfp4(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockNVFP4, 64>(unpack, Offsets::kNone, blocks, out, n_elems);
}

}  // namespace quire
