// Packing of the types without a layout of their own: int8 codes with an f32 scale per 16 values.

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/linear/activation_layout.h"
#include "kernels/linear/pack_words.h"
#include "kernels/linear/packed_formats.h"
#include "kernels/linear/weight_layout.h"
#include "tensor/int8_codes.h"

namespace quire::kernels {
namespace {

constexpr int64_t kChunk = 256;  // a multiple of every block length
static_assert(kCodeGroup == 16);

// 16 floats, one per row, from place i of each row's array.
void gather_column(const float (*rows)[kChunk / kCodeGroup], int64_t i, std::byte* out) {
  float lanes[kGroupRows];
  for (int r = 0; r < kGroupRows; ++r) lanes[r] = rows[r][i];
  std::memcpy(out, lanes, sizeof lanes);
}

void pack_codes(const TensorView& weights, int64_t group, std::byte* out) {
  const ElementTypeInfo& info = element_type_info(weights.type);
  const int64_t n_valid = std::min<int64_t>(kGroupRows, weights.n_rows() - group * kGroupRows);
  int8_t codes[kGroupRows][kChunk] = {};
  float scales[kGroupRows][kChunk / kCodeGroup] = {};
  for (int64_t k = 0; k < weights.n_cols(); k += kChunk) {
    const int64_t n = std::min(kChunk, weights.n_cols() - k);
    for (int64_t r = 0; r < n_valid; ++r) {
      const std::byte* row = weights.row(group * kGroupRows + r);
      info.unpack(row + k / info.block_elems * info.block_bytes, Int8Codes{codes[r], scales[r], nullptr}, n);
    }
    RowPointers rows;
    for (int r = 0; r < kGroupRows; ++r) rows.at[r] = reinterpret_cast<const std::byte*>(codes[r]);
    for (int64_t b = 0; b < n / kActivationBlock; ++b) {
      gather_column(scales, 2 * b, out);
      gather_column(scales, 2 * b + 1, out + 64);
      out += kI8x16Layout.header_bytes;
      transpose_bytes(rows.plus(static_cast<size_t>(b) * 32), 32, out, 0x80);
      out += kI8x16Layout.block_bytes;
    }
  }
}

size_t group_bytes(int64_t k) {
  return static_cast<size_t>(packed_bytes(kI8x16Layout, activation_blocks(k)));
}

}  // namespace

const PackedFormat kPackedI8x16 = {"i8x16", ActivationKind::kQ8x32, 32, group_bytes, pack_codes};

}  // namespace quire::kernels
