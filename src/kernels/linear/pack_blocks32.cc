// Packing of the types with blocks of 32 or 64 values; weight_layout.h describes the result.

#include <array>
#include <cstddef>

#include "kernels/linear/activation_layout.h"
#include "kernels/linear/pack_words.h"
#include "kernels/linear/packed_formats.h"
#include "kernels/linear/weight_layout.h"
#include "tensor/formats/iq4_nl.h"
#include "tensor/formats/mxfp4.h"
#include "tensor/formats/nvfp4.h"
#include "tensor/formats/q4_0.h"
#include "tensor/formats/q4_1.h"
#include "tensor/formats/q5_0.h"
#include "tensor/formats/q5_1.h"
#include "tensor/formats/q8_0.h"
#include "tensor/half.h"

namespace quire::kernels {
namespace {

// Entry x: bit 4s + i of the byte x (s = 0, 1) moved to bit s of byte i.
constexpr std::array<uint32_t, 256> make_fifth_bit_table() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t x = 0; x < 256; ++x) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      if ((x >> bit) & 1) table[x] |= uint32_t{1} << (8 * (bit % 4) + bit / 4);
    }
  }
  return table;
}
constexpr std::array<uint32_t, 256> kFifthBitTable = make_fifth_bit_table();

// The words of fifth bits (bit e = value e) of 16 rows as a slice: bit s of byte i = value 4s + i.
void pack_fifth_bits(const RowPointers& rows, std::byte* slice) {
  for (int r = 0; r < kGroupRows; ++r) {
    uint8_t bits[4];
    std::memcpy(bits, rows.at[r], 4);
    const uint32_t word = kFifthBitTable[bits[0]] | kFifthBitTable[bits[1]] << 2 |
                          kFifthBitTable[bits[2]] << 4 | kFifthBitTable[bits[3]] << 6;
    std::memcpy(slice + 4 * r, &word, 4);
  }
}

void pack_nibbles(const RowPointers& qs, std::byte* out) { transpose_16_bytes(qs, out); }
void pack_five_bits(const RowPointers& qh, const RowPointers& qs, std::byte* out) {
  pack_fifth_bits(qh, out);
  pack_nibbles(qs, out + kSliceBytes);
}

// Walks blocks and headers: emit(rows, header, second, body) packs one block; the scale belongs in the first
// or the second half of the header.
template <typename Block, typename Emit>
void pack_blocks(const BlockLayout& layout, const TensorView& weights, int64_t group, std::byte* out,
                 Emit emit) {
  const GroupBlocks<Block> blocks(weights, group);
  const int64_t n_blocks = weights.n_cols() / kActivationBlock;
  std::byte* header = out;
  for (int64_t b = 0; b < n_blocks; ++b) {
    const int64_t second = b % layout.blocks_per_header;
    if (second == 0) {
      header = out;
      std::memset(header, 0, static_cast<size_t>(layout.header_bytes));
      out += layout.header_bytes;
    }
    emit(blocks.block(b), header + 32 * second, out);
    out += layout.block_bytes;
  }
}

void pack_q4_0(const TensorView& weights, int64_t group, std::byte* out) {
  pack_blocks<BlockQ4_0>(kNibbleLayout, weights, group, out,
                         [](const RowPointers& rows, std::byte* header, std::byte* body) {
                           gather_fields<uint16_t>(rows.plus(offsetof(BlockQ4_0, d)), header);
                           pack_nibbles(rows.plus(offsetof(BlockQ4_0, qs)), body);
                         });
}

void pack_iq4_nl(const TensorView& weights, int64_t group, std::byte* out) {
  pack_blocks<BlockIQ4_NL>(kNibbleLayout, weights, group, out,
                           [](const RowPointers& rows, std::byte* header, std::byte* body) {
                             gather_fields<uint16_t>(rows.plus(offsetof(BlockIQ4_NL, d)), header);
                             pack_nibbles(rows.plus(offsetof(BlockIQ4_NL, qs)), body);
                           });
}

void pack_mxfp4(const TensorView& weights, int64_t group, std::byte* out) {
  pack_blocks<BlockMXFP4>(kNibbleLayout, weights, group, out,
                          [](const RowPointers& rows, std::byte* header, std::byte* body) {
                            for (int r = 0; r < kGroupRows; ++r) {
                              uint8_t e;
                              std::memcpy(&e, rows.at[r] + offsetof(BlockMXFP4, e), 1);
                              // A power of two, so exact in bf16, denormals included.
                              const uint16_t scale = f32_to_bf16(e8m0_half(e));
                              std::memcpy(header + 2 * r, &scale, 2);
                            }
                            pack_nibbles(rows.plus(offsetof(BlockMXFP4, qs)), body);
                          });
}

void pack_q5_0(const TensorView& weights, int64_t group, std::byte* out) {
  pack_blocks<BlockQ5_0>(
      kQ5_0Layout, weights, group, out, [](const RowPointers& rows, std::byte* header, std::byte* body) {
        gather_fields<uint16_t>(rows.plus(offsetof(BlockQ5_0, d)), header);
        pack_five_bits(rows.plus(offsetof(BlockQ5_0, qh)), rows.plus(offsetof(BlockQ5_0, qs)), body);
      });
}

void pack_q8_0(const TensorView& weights, int64_t group, std::byte* out) {
  pack_blocks<BlockQ8_0>(kQ8_0Layout, weights, group, out,
                         [](const RowPointers& rows, std::byte* header, std::byte* body) {
                           gather_fields<uint16_t>(rows.plus(offsetof(BlockQ8_0, d)), header);
                           transpose_bytes(rows.plus(offsetof(BlockQ8_0, qs)), 32, body, 0x80);
                         });
}

void pack_q4_1(const TensorView& weights, int64_t group, std::byte* out) {
  pack_blocks<BlockQ4_1>(kQ4_1Layout, weights, group, out,
                         [](const RowPointers& rows, std::byte* header, std::byte* body) {
                           gather_fields<uint16_t>(rows.plus(offsetof(BlockQ4_1, d)), header);
                           gather_fields<uint16_t>(rows.plus(offsetof(BlockQ4_1, m)), header + 32);
                           pack_nibbles(rows.plus(offsetof(BlockQ4_1, qs)), body);
                         });
}

void pack_q5_1(const TensorView& weights, int64_t group, std::byte* out) {
  pack_blocks<BlockQ5_1>(
      kQ5_1Layout, weights, group, out, [](const RowPointers& rows, std::byte* header, std::byte* body) {
        gather_fields<uint16_t>(rows.plus(offsetof(BlockQ5_1, d)), header);
        gather_fields<uint16_t>(rows.plus(offsetof(BlockQ5_1, m)), header + 32);
        pack_five_bits(rows.plus(offsetof(BlockQ5_1, qh)), rows.plus(offsetof(BlockQ5_1, qs)), body);
      });
}

void pack_nvfp4(const TensorView& weights, int64_t group, std::byte* out) {
  const GroupBlocks<BlockNVFP4> blocks(weights, group);
  for (int64_t b = 0; b < weights.n_cols() / 64; ++b) {
    const RowPointers rows = blocks.block(b);
    gather_fields<uint32_t>(rows.plus(offsetof(BlockNVFP4, d)), out);
    transpose_bytes(rows.plus(offsetof(BlockNVFP4, qs)), sizeof(BlockNVFP4::qs),
                    out + kNVFP4Layout.header_bytes);
    out += kNVFP4Layout.header_bytes + kNVFP4Layout.block_bytes;
  }
}

template <const BlockLayout& layout>
size_t group_bytes(int64_t k) {
  return static_cast<size_t>(packed_bytes(layout, activation_blocks(k)));
}

}  // namespace

const PackedFormat kPackedQ4_0 = {"q4_0", ActivationKind::kQ8x32, 32, group_bytes<kNibbleLayout>, pack_q4_0};
const PackedFormat kPackedIQ4_NL = {"iq4_nl", ActivationKind::kQ8x32, 32, group_bytes<kNibbleLayout>,
                                    pack_iq4_nl};
const PackedFormat kPackedMXFP4 = {"mxfp4", ActivationKind::kQ8x32, 32, group_bytes<kNibbleLayout>,
                                   pack_mxfp4};
const PackedFormat kPackedQ5_0 = {"q5_0", ActivationKind::kQ8x32, 32, group_bytes<kQ5_0Layout>, pack_q5_0};
const PackedFormat kPackedQ8_0 = {"q8_0", ActivationKind::kQ8x32, 32, group_bytes<kQ8_0Layout>, pack_q8_0};
const PackedFormat kPackedQ4_1 = {"q4_1", ActivationKind::kQ8x32, 32, group_bytes<kQ4_1Layout>, pack_q4_1};
const PackedFormat kPackedQ5_1 = {"q5_1", ActivationKind::kQ8x32, 32, group_bytes<kQ5_1Layout>, pack_q5_1};
const PackedFormat kPackedNVFP4 = {
    "nvfp4", ActivationKind::kQ8x32, 64,
    [](int64_t k) { return static_cast<size_t>(packed_bytes(kNVFP4Layout, (k + 63) / 64)); }, pack_nvfp4};

}  // namespace quire::kernels
