// The bytes of a packed group of 16 rows, per format: what packing writes and kernels read, in read order.
//
// A "slice" is 64 bytes: 4 bytes of each of the 16 rows in turn, so that a 32-bit lane belongs to one row.
// Slices keep the bytes of the file's blocks as they are wherever possible; packing is then a transposition
// of 4-byte words. "Step" s of 32 values means values 4s .. 4s+3, the operand of one dot product; a block of
// 32 has 8 steps.
//
// Blocks of 32 with a scale only (two blocks share a header; the last block of an odd count has its own):
//   header 64: f16 scales of the first block [16], then of the second (MXFP4: bf16)
//   q4_0, iq4_nl, mxfp4   4 slices of nibbles: slice v, low = step v, high = step v + 4
//   q5_0                  1 slice of fifth bits: bit s of a byte = step s; then 4 slices of nibbles
//   q8_0                  8 slices, slice s = step s, code + 128
// Blocks of 32 with a minimum:
//   q4_1, q5_1   header 64: f16 scales [16], f16 minimums [16]; then as q4_0, q5_0
// Per 256 values:
//   q4_k   header 256: f16 d [16], f16 dmin [16], 3 slices of the 12 bytes of 6-bit scales and minimums;
//          4 times { 8 slices of nibbles: slice s, low = step s of sub-block 2i, high = of sub-block 2i + 1 }
//   q5_k   header as q4_k; 4 times { 2 slices of fifth bits, of sub-blocks 2i and 2i + 1; 8 of nibbles }
//   q6_k   header 64: f16 d [16], padding; per half (128 values)
//          { s8 scales [8][16]; per 16 values 3 slices: low six bits of slice v = step v, its top two
//            bits = bits 2v, 2v + 1 of step 3 }
//   q2_k   header 320: f16 d [16], f16 dmin [16], 4 slices of the 16 bytes of scales and minimums; per half
//          { 8 slices: bits 2r = run r }
//   q3_k   header 256: f16 d [16], padding, 3 slices of the 12 bytes of scales; per half
//          { 8 slices of low bits as q2_k; 4 slices of third bits: bit r of the low nibble = step v of run r,
//            of the high nibble = step v + 4 }
//   iq4_xs header 128: f16 d [16], the words scales_h [16], 1 slice of scales_l; 8 times 4 slices as q4_0
// nvfp4, per 64: header 64: 1 slice of scales; per 16 values 2 slices of nibbles: low = step v, high = v + 2
// i8x16, per 32: header 128: f32 scales [2][16], one per 16 values; 8 slices of codes + 128
// f32, f16, bf16: [k][16]
#pragma once

#include <cstdint>

namespace quire::kernels {

static constexpr int kSliceBytes = 64;
static constexpr int kSuperBlock = 256;  // values of a block of the K types and iq4_xs

struct BlockLayout {
  int32_t blocks_per_header;  // blocks of k_block values that share a header
  int32_t header_bytes;
  int32_t block_bytes;  // after the header
};

static constexpr BlockLayout kNibbleLayout = {2, 64, 4 * kSliceBytes};  // q4_0, iq4_nl, mxfp4
static constexpr BlockLayout kQ5_0Layout = {2, 64, 5 * kSliceBytes};
static constexpr BlockLayout kQ8_0Layout = {2, 64, 8 * kSliceBytes};
static constexpr BlockLayout kQ4_1Layout = {1, 64, 4 * kSliceBytes};
static constexpr BlockLayout kQ5_1Layout = {1, 64, 5 * kSliceBytes};
static constexpr BlockLayout kQ4_KLayout = {1, 256, 32 * kSliceBytes};
static constexpr BlockLayout kQ5_KLayout = {1, 256, 40 * kSliceBytes};
static constexpr BlockLayout kQ6_KLayout = {1, 64, 2 * (128 + 24 * kSliceBytes)};
static constexpr BlockLayout kQ2_KLayout = {1, 320, 16 * kSliceBytes};
static constexpr BlockLayout kQ3_KLayout = {1, 256, 24 * kSliceBytes};
static constexpr BlockLayout kIQ4_XSLayout = {1, 128, 32 * kSliceBytes};
static constexpr BlockLayout kNVFP4Layout = {1, 64, 8 * kSliceBytes};
static constexpr BlockLayout kI8x16Layout = {1, 128, 8 * kSliceBytes};

static constexpr int64_t packed_bytes(const BlockLayout& layout, int64_t n_blocks) {
  const int64_t headers = (n_blocks + layout.blocks_per_header - 1) / layout.blocks_per_header;
  return headers * layout.header_bytes + n_blocks * layout.block_bytes;
}

}  // namespace quire::kernels
