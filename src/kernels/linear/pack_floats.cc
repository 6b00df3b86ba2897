// Packing to [k][16 rows] in f32, f16 and bf16: the layouts of exact kernels.

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/linear.h"
#include "kernels/linear/packed_formats.h"

namespace quire::kernels {
namespace {

constexpr int64_t kChunk = 256;  // a multiple of every block length

template <typename T>
void transpose_chunk(const T (*rows)[kChunk], int64_t n, std::byte* out) {
  for (int64_t k = 0; k < n; ++k) {
    T lanes[kGroupRows];
    for (int r = 0; r < kGroupRows; ++r) lanes[r] = rows[r][k];
    std::memcpy(out + static_cast<size_t>(k) * sizeof lanes, lanes, sizeof lanes);
  }
}

// Chunk by chunk: read(row, first column, n, values) gives the values of one row.
template <typename T, typename Read>
void pack_columns(const TensorView& weights, int64_t group, std::byte* out, Read read) {
  const int64_t n_valid = std::min<int64_t>(kGroupRows, weights.n_rows() - group * kGroupRows);
  alignas(64) T rows[kGroupRows][kChunk] = {};
  for (int64_t k = 0; k < weights.n_cols(); k += kChunk) {
    const int64_t n = std::min(kChunk, weights.n_cols() - k);
    for (int64_t r = 0; r < n_valid; ++r) read(weights.row(group * kGroupRows + r), k, n, rows[r]);
    transpose_chunk(rows, n, out + static_cast<size_t>(k) * kGroupRows * sizeof(T));
  }
  // group_bytes() rounds up to whole cache lines.
  const size_t used = static_cast<size_t>(weights.n_cols()) * kGroupRows * sizeof(T);
  std::memset(out + used, 0, (64 - used % 64) % 64);
}

void pack_f32(const TensorView& weights, int64_t group, std::byte* out) {
  const ElementTypeInfo& info = element_type_info(weights.type);
  pack_columns<float>(weights, group, out, [&](const std::byte* row, int64_t k, int64_t n, float* values) {
    info.decode(row + k / info.block_elems * info.block_bytes, values, n);
  });
}

void pack_half(const TensorView& weights, int64_t group, std::byte* out) {
  pack_columns<uint16_t>(weights, group, out,
                         [](const std::byte* row, int64_t k, int64_t n, uint16_t* values) {
                           std::memcpy(values, row + 2 * k, static_cast<size_t>(n) * 2);
                         });
}

size_t f32_group_bytes(int64_t k) { return static_cast<size_t>(k) * kGroupRows * sizeof(float); }
size_t half_group_bytes(int64_t k) {
  return (static_cast<size_t>(k) * kGroupRows * sizeof(uint16_t) + 63) / 64 * 64;
}

}  // namespace

const PackedFormat kPackedF32 = {"f32", ActivationKind::kF32, 1, f32_group_bytes, pack_f32};
const PackedFormat kPackedF16 = {"f16", ActivationKind::kF32, 1, half_group_bytes, pack_half};
const PackedFormat kPackedBF16 = {"bf16", ActivationKind::kF32, 1, half_group_bytes, pack_half};

}  // namespace quire::kernels
