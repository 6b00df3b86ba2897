// Packing of the types with super-blocks of 256 values; weight_layout.h describes the result.

#include <cstddef>

#include "kernels/linear/pack_words.h"
#include "kernels/linear/packed_formats.h"
#include "kernels/linear/weight_layout.h"
#include "tensor/formats/iq4_xs.h"
#include "tensor/formats/q2_k.h"
#include "tensor/formats/q3_k.h"
#include "tensor/formats/q4_k.h"
#include "tensor/formats/q5_k.h"
#include "tensor/formats/q6_k.h"

namespace quire::kernels {
namespace {

// 12 bytes of every row to three slices.
void transpose_12_bytes(const RowPointers& rows, std::byte* slices) {
  for (int r = 0; r < kGroupRows; ++r) {
    for (int w = 0; w < 3; ++w) std::memcpy(slices + w * kSliceBytes + 4 * r, rows.at[r] + 4 * w, 4);
  }
}

// d, dmin and the 6-bit fields, which lie alike in both types.
void pack_k_header(const RowPointers& rows, std::byte* header) {
  static_assert(offsetof(BlockQ4_K, d) == 0 && offsetof(BlockQ4_K, dmin) == 2 &&
                offsetof(BlockQ4_K, scales) == 4);
  static_assert(offsetof(BlockQ5_K, d) == 0 && offsetof(BlockQ5_K, dmin) == 2 &&
                offsetof(BlockQ5_K, scales) == 4);
  gather_fields<uint16_t>(rows, header);
  gather_fields<uint16_t>(rows.plus(2), header + 32);
  transpose_12_bytes(rows.plus(4), header + 64);
}

void pack_q4_k(const TensorView& weights, int64_t group, std::byte* out) {
  const GroupBlocks<BlockQ4_K> blocks(weights, group);
  for (int64_t b = 0; b < weights.n_cols() / kSuperBlock; ++b) {
    const RowPointers rows = blocks.block(b);
    pack_k_header(rows, out);
    transpose_bytes(rows.plus(offsetof(BlockQ4_K, qs)), sizeof(BlockQ4_K::qs),
                    out + kQ4_KLayout.header_bytes);
    out += kQ4_KLayout.header_bytes + kQ4_KLayout.block_bytes;
  }
}

// Exchanges the bits of slice a whose places are in mask << shift with those of slice b in mask.
inline void exchange_bits(Words4& a, Words4& b, int shift, uint32_t mask) {
  const Words4 changed = ((a >> shift) ^ b) & mask;
  b ^= changed;
  a ^= changed << shift;
}

// Eight slices whose bytes hold at bit j the fifth bit of step s of sub-block j become eight slices, one per
// sub-block, with step s at bit s: an 8 x 8 bit transposition in every byte.
void transpose_fifth_bits(std::byte* slices) {
  for (int part = 0; part < kSliceBytes; part += 16) {
    Words4 w[8];
    for (int s = 0; s < 8; ++s) std::memcpy(&w[s], slices + s * kSliceBytes + part, 16);
    for (int s = 0; s < 4; ++s) exchange_bits(w[s], w[s + 4], 4, 0x0f0f0f0fu);
    for (const int s : {0, 1, 4, 5}) exchange_bits(w[s], w[s + 2], 2, 0x33333333u);
    for (const int s : {0, 2, 4, 6}) exchange_bits(w[s], w[s + 1], 1, 0x55555555u);
    for (int s = 0; s < 8; ++s) std::memcpy(slices + s * kSliceBytes + part, &w[s], 16);
  }
}

void pack_q5_k(const TensorView& weights, int64_t group, std::byte* out) {
  const GroupBlocks<BlockQ5_K> blocks(weights, group);
  for (int64_t b = 0; b < weights.n_cols() / kSuperBlock; ++b) {
    const RowPointers rows = blocks.block(b);
    pack_k_header(rows, out);
    out += kQ5_KLayout.header_bytes;
    std::byte fifth_bits[8 * kSliceBytes];
    transpose_bytes(rows.plus(offsetof(BlockQ5_K, qh)), sizeof(BlockQ5_K::qh), fifth_bits);
    transpose_fifth_bits(fifth_bits);
    for (size_t i = 0; i < 4; ++i) {
      std::memcpy(out, fifth_bits + 2 * i * kSliceBytes, 2 * kSliceBytes);
      transpose_bytes(rows.plus(offsetof(BlockQ5_K, qs) + 32 * i), 32, out + 2 * kSliceBytes);
      out += 10 * kSliceBytes;
    }
  }
}

// Two runs of 32 six-bit codes as the file has them, in eight slices each of their low nibbles (low and high)
// and of their upper pairs of bits (at bit `shift` and at shift + 4), to the slices of weight_layout.h.
void pack_six_bits(const std::byte* nibbles, const std::byte* pairs, int shift, std::byte* first,
                   std::byte* second) {
  constexpr uint32_t kNibble = 0x0f0f0f0fu, kPair = 0x30303030u, kTwoBits = 0x03030303u;
  for (int four = 0; four < 2; ++four) {
    for (int at = 0; at < kSliceBytes; at += 16) {
      Words4 a[4], b[4];  // codes of steps 4 four .. 4 four + 3
      for (int s = 0; s < 4; ++s) {
        Words4 low, high;
        std::memcpy(&low, nibbles + (4 * four + s) * kSliceBytes + at, 16);
        std::memcpy(&high, pairs + (4 * four + s) * kSliceBytes + at, 16);
        high >>= shift;
        a[s] = (low & kNibble) | ((high << 4) & kPair);
        b[s] = ((low >> 4) & kNibble) | (high & kPair);
      }
      for (int v = 0; v < 3; ++v) {
        a[v] |= ((a[3] >> (2 * v)) & kTwoBits) << 6;
        b[v] |= ((b[3] >> (2 * v)) & kTwoBits) << 6;
        std::memcpy(first + (3 * four + v) * kSliceBytes + at, &a[v], 16);
        std::memcpy(second + (3 * four + v) * kSliceBytes + at, &b[v], 16);
      }
    }
  }
}

void pack_q6_k(const TensorView& weights, int64_t group, std::byte* out) {
  constexpr int kRunBytes = 6 * kSliceBytes;
  const GroupBlocks<BlockQ6_K> blocks(weights, group);
  for (int64_t b = 0; b < weights.n_cols() / kSuperBlock; ++b) {
    const RowPointers rows = blocks.block(b);
    std::memset(out, 0, static_cast<size_t>(kQ6_KLayout.header_bytes));
    gather_fields<uint16_t>(rows.plus(offsetof(BlockQ6_K, d)), out);
    out += kQ6_KLayout.header_bytes;
    for (size_t half = 0; half < 2; ++half) {
      for (int r = 0; r < kGroupRows; ++r) {
        const std::byte* scales = rows.at[r] + offsetof(BlockQ6_K, scales) + 8 * half;
        for (int j = 0; j < 8; ++j) out[j * kGroupRows + r] = scales[j];
      }
      out += 8 * kGroupRows;
      std::byte nibbles[16 * kSliceBytes], pairs[8 * kSliceBytes];  // of runs 0 and 2, then of 1 and 3
      transpose_bytes(rows.plus(offsetof(BlockQ6_K, ql) + 64 * half), 64, nibbles);
      transpose_bytes(rows.plus(offsetof(BlockQ6_K, qh) + 32 * half), 32, pairs);
      pack_six_bits(nibbles, pairs, 0, out, out + 2 * kRunBytes);
      pack_six_bits(nibbles + 8 * kSliceBytes, pairs, 2, out + kRunBytes, out + 3 * kRunBytes);
      out += 4 * kRunBytes;
    }
  }
}

void pack_q2_k(const TensorView& weights, int64_t group, std::byte* out) {
  const GroupBlocks<BlockQ2_K> blocks(weights, group);
  for (int64_t b = 0; b < weights.n_cols() / kSuperBlock; ++b) {
    const RowPointers rows = blocks.block(b);
    gather_fields<uint16_t>(rows.plus(offsetof(BlockQ2_K, d)), out);
    gather_fields<uint16_t>(rows.plus(offsetof(BlockQ2_K, dmin)), out + 32);
    transpose_bytes(rows.plus(offsetof(BlockQ2_K, scales)), sizeof(BlockQ2_K::scales), out + 64);
    transpose_bytes(rows.plus(offsetof(BlockQ2_K, qs)), sizeof(BlockQ2_K::qs),
                    out + kQ2_KLayout.header_bytes);
    out += kQ2_KLayout.header_bytes + kQ2_KLayout.block_bytes;
  }
}

// Eight slices whose bytes hold at bit r (r + 4) the third bit of run r of the first (second) half become
// four slices of each half, with step v in the low and step v + 4 in the high nibbles.
void split_third_bits(const std::byte* mask, std::byte* first, std::byte* second) {
  constexpr uint32_t kLow = 0x0f0f0f0fu;
  for (int at = 0; at < 4 * kSliceBytes; at += 16) {
    Words4 step, later;
    std::memcpy(&step, mask + at, 16);
    std::memcpy(&later, mask + 4 * kSliceBytes + at, 16);
    const Words4 low = (step & kLow) | ((later & kLow) << 4);
    const Words4 high = ((step >> 4) & kLow) | (later & ~kLow);
    std::memcpy(first + at, &low, 16);
    std::memcpy(second + at, &high, 16);
  }
}

void pack_q3_k(const TensorView& weights, int64_t group, std::byte* out) {
  constexpr size_t kHalfBytes = 12 * kSliceBytes;
  const GroupBlocks<BlockQ3_K> blocks(weights, group);
  for (int64_t b = 0; b < weights.n_cols() / kSuperBlock; ++b) {
    const RowPointers rows = blocks.block(b);
    std::memset(out, 0, kSliceBytes);
    gather_fields<uint16_t>(rows.plus(offsetof(BlockQ3_K, d)), out);
    transpose_12_bytes(rows.plus(offsetof(BlockQ3_K, scales)), out + kSliceBytes);
    out += kQ3_KLayout.header_bytes;
    for (size_t half = 0; half < 2; ++half) {
      transpose_bytes(rows.plus(offsetof(BlockQ3_K, qs) + 32 * half), 32, out + half * kHalfBytes);
    }
    std::byte mask[8 * kSliceBytes];
    transpose_bytes(rows.plus(offsetof(BlockQ3_K, hmask)), sizeof(BlockQ3_K::hmask), mask);
    split_third_bits(mask, out + 8 * kSliceBytes, out + kHalfBytes + 8 * kSliceBytes);
    out += kQ3_KLayout.block_bytes;
  }
}

void pack_iq4_xs(const TensorView& weights, int64_t group, std::byte* out) {
  const GroupBlocks<BlockIQ4_XS> blocks(weights, group);
  for (int64_t b = 0; b < weights.n_cols() / kSuperBlock; ++b) {
    const RowPointers rows = blocks.block(b);
    gather_fields<uint16_t>(rows.plus(offsetof(BlockIQ4_XS, d)), out);
    gather_fields<uint16_t>(rows.plus(offsetof(BlockIQ4_XS, scales_h)), out + 32);
    gather_fields<uint32_t>(rows.plus(offsetof(BlockIQ4_XS, scales_l)), out + 64);
    transpose_bytes(rows.plus(offsetof(BlockIQ4_XS, qs)), sizeof(BlockIQ4_XS::qs),
                    out + kIQ4_XSLayout.header_bytes);
    out += kIQ4_XSLayout.header_bytes + kIQ4_XSLayout.block_bytes;
  }
}

template <const BlockLayout& layout>
size_t group_bytes(int64_t k) {
  return static_cast<size_t>(packed_bytes(layout, (k + kSuperBlock - 1) / kSuperBlock));
}

}  // namespace

const PackedFormat kPackedQ4_K = {"q4_k", ActivationKind::kQ8x32, kSuperBlock, group_bytes<kQ4_KLayout>,
                                  pack_q4_k};
const PackedFormat kPackedQ5_K = {"q5_k", ActivationKind::kQ8x32, kSuperBlock, group_bytes<kQ5_KLayout>,
                                  pack_q5_k};
const PackedFormat kPackedQ6_K = {"q6_k", ActivationKind::kQ8x32, kSuperBlock, group_bytes<kQ6_KLayout>,
                                  pack_q6_k};
const PackedFormat kPackedQ2_K = {"q2_k", ActivationKind::kQ8x32, kSuperBlock, group_bytes<kQ2_KLayout>,
                                  pack_q2_k};
const PackedFormat kPackedQ3_K = {"q3_k", ActivationKind::kQ8x32, kSuperBlock, group_bytes<kQ3_KLayout>,
                                  pack_q3_k};
const PackedFormat kPackedIQ4_XS = {"iq4_xs", ActivationKind::kQ8x32, kSuperBlock, group_bytes<kIQ4_XSLayout>,
                                    pack_iq4_xs};

}  // namespace quire::kernels
