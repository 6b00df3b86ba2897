// Q2_K, Q3_K and Q6_K: super-blocks of 256 with a small integer scale per 16 values.
//
// A half of a super-block is 128 values in four runs of 32; the slices of low bits hold two or four runs.

#include "kernels/linear/code_bodies.h"
#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/run_blocks.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// Visits the blocks block(kRun) of the four runs of a half.
template <typename Visit, typename BlockOfRun>
QUIRE_VEC_FN void visit_runs(const Visit& visit, const BlockOfRun& block) {
  visit(block.template operator()<0>(), block.template operator()<1>());
  visit(block.template operator()<2>(), block.template operator()<3>());
}

// Scales, or offsets, of the 16 groups of a super-block.
struct GroupScales {
  alignas(64) float lanes[16][kLanes];
  QUIRE_VEC_MEMBER F32 at(int64_t group) const { return load(lanes[group]); }
};

// 8 slices: bits 2r, 2r + 1 = run r.
template <int kRun>
struct TwoBits {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return band(move_bits<-2 * kRun>(bload(slices + kStep * kSliceBytes)), bset1(0x03));
  }
};

struct Q2_K {
  static constexpr BlockLayout kLayout = kQ2_KLayout;
  static constexpr int kUnitBlocks = 8;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kTwoScalesOffsets;
  static constexpr CodeRange kRange = CodeRange::kSevenBits;
  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t, const Visit& visit) {
    const F32 d = f16_lanes(unit);
    const F32 minus_dmin = neg(f16_lanes(unit + 32));
    GroupScales scales, offsets;
    for (int i = 0; i < 4; ++i) {
      const B64 fields = bload(unit + (1 + i) * kSliceBytes);
      scale_bytes(as_i32(band(fields, bset1(0x0f))), d, scales.lanes + 4 * i);
      scale_bytes(as_i32(band(bshift_right16<4>(fields), bset1(0x0f))), minus_dmin, offsets.lanes + 4 * i);
    }
    QUIRE_NO_UNROLL for (int64_t half = 0; half < 2; ++half) {
      const std::byte* slices = unit + kLayout.header_bytes + half * 8 * kSliceBytes;
      visit_runs(visit, [&]<int kRun>() QUIRE_INLINE_LAMBDA {
        const int64_t group = 8 * half + 2 * kRun;
        return block_of(TwoBits<kRun>{slices},
                        Terms<kTerms>{.scale = {scales.at(group), scales.at(group + 1)},
                                      .offset = {offsets.at(group), offsets.at(group + 1)}});
      });
    }
  }
};

// 8 slices of low bits as in Q2_K; 4 slices of third bits: bit r of the low nibble of slice v = step v of run
// r, of the high nibble = step v + 4. Codes around 32.
template <int kRun>
struct ThreeBits {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    const B64 third = bload(slices + (8 + kStep % 4) * kSliceBytes);
    const B64 moved = band(move_bits<2 - kRun - 4 * (kStep / 4)>(third), bset1(0x04));
    return badd(bor(TwoBits<kRun>{slices}.template codes<kStep>(), moved), bset1(32 - 4));
  }
};

struct Q3_K {
  static constexpr BlockLayout kLayout = kQ3_KLayout;
  static constexpr int kUnitBlocks = 8;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kTwoScales;
  static constexpr CodeRange kRange = CodeRange::kSevenBits;
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_32_halves; }

  // Four scales around 32 from their low and high bits, as signed bytes.
  QUIRE_VEC_FN void scale_four(B64 low, B64 high, F32 d, float (*out)[kLanes]) {
    const B64 fields = bor(band(low, bset1(0x0f)), band(high, bset1(0x30)));
    scale_bytes(as_i32(fields), d, out);
    const F32 centre = mul(d, set1(32.0f));
    for (int i = 0; i < 4; ++i) store(out[i], sub(load(out[i]), centre));
  }

  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t, const Visit& visit) {
    const F32 d = f16_lanes(unit);
    const B64 low0 = bload(unit + kSliceBytes), low4 = bload(unit + 2 * kSliceBytes);
    const B64 high = bload(unit + 3 * kSliceBytes);
    GroupScales scales;
    scale_four(low0, bshift_left16<4>(high), d, scales.lanes);
    scale_four(low4, bshift_left16<2>(high), d, scales.lanes + 4);
    scale_four(bshift_right16<4>(low0), high, d, scales.lanes + 8);
    scale_four(bshift_right16<4>(low4), bshift_right16<2>(high), d, scales.lanes + 12);
    QUIRE_NO_UNROLL for (int64_t half = 0; half < 2; ++half) {
      const std::byte* slices = unit + kLayout.header_bytes + half * 12 * kSliceBytes;
      visit_runs(visit, [&]<int kRun>() QUIRE_INLINE_LAMBDA {
        const int64_t group = 8 * half + 2 * kRun;
        return block_of(ThreeBits<kRun>{slices},
                        Terms<kTerms>{.scale = {scales.at(group), scales.at(group + 1)}});
      });
    }
  }
};

// 3 slices per 16 values: low six bits of slice v = step v, top two bits = bits 2v, 2v + 1 of step 3. Codes
// around 32.
struct SixBits {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    const std::byte* at = slices + kStep / 4 * 3 * kSliceBytes;
    if constexpr (kStep % 4 < 3) return band(bload(at + kStep % 4 * kSliceBytes), bset1(0x3f));
    const B64 low = band(bshift_right16<6>(bload(at)), bset1(0x03));
    const B64 middle = band(bshift_right16<4>(bload(at + kSliceBytes)), bset1(0x0c));
    const B64 high = band(bshift_right16<2>(bload(at + 2 * kSliceBytes)), bset1(0x30));
    return bor(bor(low, middle), high);
  }
};

struct Q6_K {
  static constexpr BlockLayout kLayout = kQ6_KLayout;
  static constexpr int kUnitBlocks = 8;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kTwoScales;
  static constexpr CodeRange kRange = CodeRange::kSevenBits;
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_32_halves; }

  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t, const Visit& visit) {
    const F32 d = f16_lanes(unit);
    QUIRE_NO_UNROLL for (int64_t half = 0; half < 2; ++half) {
      const std::byte* at = unit + kLayout.header_bytes + half * kLayout.block_bytes / 2;
      const auto* scales = reinterpret_cast<const int8_t*>(at);
      const std::byte* slices = at + 8 * kGroupRows;
      const auto block = [&](int64_t j) QUIRE_INLINE_LAMBDA {
        const auto scale = [&](int64_t group) QUIRE_INLINE_LAMBDA {
          return mul(to_f32(load_i8x16(scales + group * kGroupRows)), d);
        };
        return block_of(SixBits{slices + j * 6 * kSliceBytes},
                        Terms<kTerms>{.scale = {scale(2 * j), scale(2 * j + 1)}});
      };
      QUIRE_UNROLL for (int64_t j = 0; j < 4; j += 2) visit(block(j), block(j + 1));
    }
  }
};

}  // namespace

void run_q2_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q2_K>(args, group_begin, group_end);
}
void run_q3_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q3_K>(args, group_begin, group_end);
}
void run_q6_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<Q6_K>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
