// Transposition of the bytes of 16 rows into slices (weight_layout.h), in plain C++ with 16-byte vectors.
//
// Pure functions on memory of the caller; source addresses need no alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/linear.h"
#include "kernels/linear/weight_layout.h"
#include "tensor/tensor_view.h"

namespace quire::kernels {

using Bytes16 = uint8_t __attribute__((vector_size(16)));
using Words4 = uint32_t __attribute__((vector_size(16)));

// The same place in each of the 16 rows of a group.
struct RowPointers {
  const std::byte* at[kGroupRows];
  RowPointers plus(size_t bytes) const {
    RowPointers moved;
    for (int r = 0; r < kGroupRows; ++r) moved.at[r] = at[r] + bytes;
    return moved;
  }
};

// Blocks of the rows of group `group`; rows past the end are blocks of zero bytes, which every type decodes
// to zeros.
template <typename Block>
class GroupBlocks {
 public:
  GroupBlocks(const TensorView& weights, int64_t group) : n_valid_(weights.n_rows() - group * kGroupRows) {
    for (int r = 0; r < kGroupRows; ++r) {
      rows_.at[r] =
          r < n_valid_ ? weights.row(group * kGroupRows + r) : reinterpret_cast<const std::byte*>(&kZero);
    }
  }
  // Block b of all rows.
  RowPointers block(int64_t b) const {
    RowPointers moved = rows_;
    for (int r = 0; r < kGroupRows && r < n_valid_; ++r)
      moved.at[r] += b * static_cast<int64_t>(sizeof(Block));
    return moved;
  }

 private:
  static constexpr Block kZero = {};
  int64_t n_valid_;
  RowPointers rows_;
};

// Word w of every row to slice w, w = 0..3: a 16 x 4 transposition. `flip` is xor-ed onto every byte.
inline void transpose_16_bytes(const RowPointers& rows, std::byte* slices, uint8_t flip = 0) {
  const uint32_t flip_word = flip * 0x01010101u;
  for (int r = 0; r < kGroupRows; r += 4) {
    Words4 a, b, c, d;
    std::memcpy(&a, rows.at[r], 16);
    std::memcpy(&b, rows.at[r + 1], 16);
    std::memcpy(&c, rows.at[r + 2], 16);
    std::memcpy(&d, rows.at[r + 3], 16);
    const Words4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Words4 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Words4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Words4 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const Words4 word0 = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5) ^ flip_word;
    const Words4 word1 = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7) ^ flip_word;
    const Words4 word2 = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5) ^ flip_word;
    const Words4 word3 = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7) ^ flip_word;
    std::byte* out = slices + 4 * r;
    std::memcpy(out, &word0, 16);
    std::memcpy(out + kSliceBytes, &word1, 16);
    std::memcpy(out + 2 * kSliceBytes, &word2, 16);
    std::memcpy(out + 3 * kSliceBytes, &word3, 16);
  }
}

// n_bytes, a multiple of 16, of every row to n_bytes / 4 slices.
inline void transpose_bytes(const RowPointers& rows, size_t n_bytes, std::byte* slices, uint8_t flip = 0) {
  for (size_t at = 0; at < n_bytes; at += 16) {
    transpose_16_bytes(rows.plus(at), slices + at / 4 * kSliceBytes, flip);
  }
}

// A 16-bit (or 32-bit) field of every row, side by side.
template <typename Field>
inline void gather_fields(const RowPointers& rows, std::byte* out) {
  for (int r = 0; r < kGroupRows; ++r) std::memcpy(out + r * sizeof(Field), rows.at[r], sizeof(Field));
}

}  // namespace quire::kernels
