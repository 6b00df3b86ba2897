// Q4_K and Q5_K, which differ in the fifth bits only: super-blocks of 256 with a 6-bit scale and minimum per
// 32 values.

#include "kernels/linear/code_bodies.h"
#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/run_blocks.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// The scales and offsets of the eight sub-blocks of every row, d and -dmin multiplied in (17 bits, exact),
// taken apart from the three slices that hold the 6-bit fields.
template <int kOddUnit>
struct SubBlockTerms {
  alignas(64) float scales[8][kLanes];
  alignas(64) float offsets[8][kLanes];

  QUIRE_VEC_MEMBER explicit SubBlockTerms(const std::byte* header) {
    const F32 d = f16_lanes(header);
    const F32 odd_d = kOddUnit == 1 ? d : mul(d, set1(1.0f / kOddUnit));
    const F32 minus_dmin = neg(f16_lanes(header + 32));
    const std::byte* slices = header + 64;
    const B64 first = bload(slices);                 // byte j: scale j, top two bits of scale j + 4
    const B64 second = bload(slices + kSliceBytes);  // byte j: minimum j, top two bits of minimum j + 4
    const B64 third =
        bload(slices + 2 * kSliceBytes);  // byte j: low nibbles of scale j + 4 and minimum j + 4
    const B64 six = bset1(0x3f), low = bset1(0x0f), high = bset1(0x30);
    scale_bytes(as_i32(band(first, six)), d, odd_d, scales);
    scale_bytes(as_i32(bor(band(third, low), band(bshift_right16<2>(first), high))), d, odd_d, scales + 4);
    scale_bytes(as_i32(band(second, six)), minus_dmin, minus_dmin, offsets);
    scale_bytes(as_i32(bor(band(bshift_right16<4>(third), low), band(bshift_right16<2>(second), high))),
                minus_dmin, minus_dmin, offsets + 4);
  }

  QUIRE_VEC_MEMBER Terms<TermKind::kScaleOffset> at(int64_t j) const {
    return {.scale = {load(scales[j])}, .offset = {load(offsets[j])}};
  }
};

// Sub-block 2i + kHalf of 8 slices of nibbles; for five bits, 2 slices of fifth bits precede them. Codes are
// kCodeUnit times those of the file, scales of odd sub-blocks that much smaller: a high nibble that may stay
// where it is saves a shift per slice, and multiplying by a power of two rounds nothing. They pass for seven
// bits: where byte dots are fast, dot_u7s8 takes any byte.
template <int kHalf>
struct FourBits {
  static constexpr BlockLayout kLayout = kQ4_KLayout;
  static constexpr int kCodeUnit = kHalf == 1 && kFastByteDots ? 16 : 1;
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    if constexpr (kCodeUnit == 16) return band(bload(slices + kStep * kSliceBytes), bset1(0xf0));
    return band(move_bits<-4 * kHalf>(bload(slices + kStep * kSliceBytes)), bset1(0x0f));
  }
};
template <int kHalf>
struct FiveBits {
  static constexpr BlockLayout kLayout = kQ5_KLayout;
  static constexpr int kCodeUnit = 1;
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    const B64 fifth_bits = move_bits<4 - kStep>(bload(slices + kHalf * kSliceBytes));
    const B64 nibbles = move_bits<-4 * kHalf>(bload(slices + (2 + kStep) * kSliceBytes));
    return bor(band(nibbles, bset1(0x0f)), band(fifth_bits, bset1(0x10)));
  }
};

template <template <int> typename Body>
struct Q45K {
  static constexpr BlockLayout kLayout = Body<0>::kLayout;
  static constexpr int kUnitBlocks = 8;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kScaleOffset;
  static constexpr CodeRange kRange = CodeRange::kSevenBits;
  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t, const Visit& visit) {
    const SubBlockTerms<Body<1>::kCodeUnit> terms(unit);
    const std::byte* slices = unit + kLayout.header_bytes;
    // Unrolled, so that the terms stay in registers.
    QUIRE_UNROLL for (int64_t j = 0; j < 8; j += 2) {
      visit(block_of(Body<0>{slices}, terms.at(j)), block_of(Body<1>{slices}, terms.at(j + 1)));
      slices += kLayout.block_bytes / 4;
    }
  }
};

}  // namespace

void run_q4_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q45K<FourBits>>(args, group_begin, group_end);
}
void run_q5_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q45K<FiveBits>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
