// The types with blocks of 32 values and a scale (and minimum) each: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0.

#include "kernels/linear/code_bodies.h"
#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/run_blocks.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// Two blocks share a header of their f16 scales.
template <typename BodyType, const BlockLayout& layout, CodeRange range>
struct ScaledBlocks {
  static constexpr BlockLayout kLayout = layout;
  static constexpr int kUnitBlocks = 2;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kScale;
  static constexpr CodeRange kRange = range;
  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t n_blocks, const Visit& visit) {
    const auto block = [&](int64_t i) QUIRE_INLINE_LAMBDA {
      return block_of(BodyType{unit + kLayout.header_bytes + i * kLayout.block_bytes},
                      Terms<kTerms>{.scale = {f16_lanes(unit + 32 * i)}});
    };
    if (n_blocks == 1) return visit(block(0));
    visit(block(0), block(1));
  }
};

struct Q4_0 : ScaledBlocks<NibbleBody, kNibbleLayout, CodeRange::kSevenBits> {
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_8; }
};
struct Q5_0 : ScaledBlocks<FiveBitBody, kQ5_0Layout, CodeRange::kSevenBits> {
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_16; }
};
struct Q8_0 : ScaledBlocks<ByteBody, kQ8_0Layout, CodeRange::kEightBits> {
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_128; }
};

// Each block has a header of f16 scales and minimums.
template <typename BodyType, const BlockLayout& layout>
struct BlocksAboveMinimum {
  static constexpr BlockLayout kLayout = layout;
  static constexpr int kUnitBlocks = 2;
  static constexpr int kUnitHeaders = 2;
  static constexpr TermKind kTerms = TermKind::kScaleOffset;
  static constexpr CodeRange kRange = CodeRange::kSevenBits;
  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t n_blocks, const Visit& visit) {
    const auto block = [](const std::byte* header) QUIRE_INLINE_LAMBDA {
      return block_of(BodyType{header + kLayout.header_bytes},
                      Terms<kTerms>{.scale = {f16_lanes(header)}, .offset = {f16_lanes(header + 32)}});
    };
    if (n_blocks == 1) return visit(block(unit));
    visit(block(unit), block(unit + packed_bytes(kLayout, 1)));
  }
};

}  // namespace

void run_q4_0(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q4_0>(args, group_begin, group_end);
}
void run_q5_0(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q5_0>(args, group_begin, group_end);
}
void run_q8_0(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q8_0>(args, group_begin, group_end);
}
void run_q4_1(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<BlocksAboveMinimum<NibbleBody, kQ4_1Layout>>(args, group_begin, group_end);
}
void run_q5_1(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<BlocksAboveMinimum<FiveBitBody, kQ5_1Layout>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
