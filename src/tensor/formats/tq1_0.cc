#include "tensor/formats/tq1_0.h"

#include "tensor/formats/codec.h"
#include "tensor/formats/ternary.h"
#include "tensor/half.h"

namespace quire {
namespace {

constexpr uint8_t kPowersOf3[5] = {1, 3, 9, 27, 81};

// Three runs of bytes, each read digit by digit across all its bytes.
struct Run {
  int first_elem, n_bytes, n_digits;
};
constexpr Run kRuns[3] = {{0, 32, 5}, {160, 16, 5}, {240, 4, 4}};

void unpack(const BlockTQ1_0& block, const Int8Codes& out) {
  fill_groups(out.scales, f16_to_f32(block.d), 256);
  const uint8_t* const bytes[3] = {block.qs, block.qs + 32, block.qh};
  for (int r = 0; r < 3; ++r) {
    int8_t* codes = out.codes + kRuns[r].first_elem;
    for (int n = 0; n < kRuns[r].n_digits; ++n) {
      for (int m = 0; m < kRuns[r].n_bytes; ++m) {
        const int shifted = (bytes[r][m] * kPowersOf3[n]) & 255;
        *codes++ = static_cast<int8_t>(((shifted * 3) >> 8) - 1);
      }
    }
  }
}

}  // namespace

void decode_tq1_0(const std::byte* blocks, float* values, int64_t n_elems) {
  decode_blocks<BlockTQ1_0, 256>(unpack, Offsets::kNone, blocks, values, n_elems);
}

void unpack_tq1_0(const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  unpack_blocks<BlockTQ1_0, 256>(unpack, Offsets::kNone, blocks, out, n_elems);
}

void encode_tq1_0(const float* values, std::byte* blocks, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % 256 == 0);
  auto* out = reinterpret_cast<BlockTQ1_0*>(blocks);
  for (int64_t b = 0; b < n_elems / 256; ++b, values += 256) {
    BlockTQ1_0& block = out[b];
    const float d = largest_magnitude(values, 256);
    const float inverse = inverse_or_zero(d);
    block.d = f32_to_f16(d);
    uint8_t* const bytes[3] = {block.qs, block.qs + 32, block.qh};
    for (int r = 0; r < 3; ++r) {
      for (int m = 0; m < kRuns[r].n_bytes; ++m) {
        int number = 0;
        for (int n = 0; n < kRuns[r].n_digits; ++n) {
          const int elem = kRuns[r].first_elem + n * kRuns[r].n_bytes + m;
          number += ternary_digit(values[elem], inverse) * kPowersOf3[4 - n];
        }
        bytes[r][m] = static_cast<uint8_t>((number * 256 + 242) / 243);
      }
    }
  }
}

}  // namespace quire
