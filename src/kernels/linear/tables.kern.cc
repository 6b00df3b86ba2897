// The types whose codes are looked up: IQ4_NL, IQ4_XS, MXFP4, NVFP4 (4-bit indices into 16 levels), and
// i8x16, the bytes that the rarer types are decoded to at load.

#include "kernels/linear/code_bodies.h"
#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/run_blocks.h"
#include "tensor/formats/fp4_values.h"
#include "tensor/formats/iq4_values.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

struct Levels {
  uint8_t plus_offset[16];
};
constexpr Levels levels_around(const int8_t (&values)[16], int offset) {
  Levels levels = {};
  for (int i = 0; i < 16; ++i) levels.plus_offset[i] = static_cast<uint8_t>(values[i] + offset);
  return levels;
}
constexpr Levels kIq4Levels = levels_around(kIq4Values, 128);
constexpr Levels kMxfp4Levels = levels_around(kFp4Doubled, 16);
constexpr Levels kNvfp4Levels = levels_around(kFp4Doubled, 32);

// Two blocks share a header of their scales.
struct IQ4_NL {
  static constexpr CodeRange kRange = CodeRange::kEightBits;
  static constexpr const uint8_t* kTable = kIq4Levels.plus_offset;
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_128; }
  QUIRE_VEC_FN F32 scale(const std::byte* at) { return f16_lanes(at); }
};
struct MXFP4 {
  static constexpr CodeRange kRange = CodeRange::kSevenBits;
  static constexpr const uint8_t* kTable = kMxfp4Levels.plus_offset;
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_16; }
  QUIRE_VEC_FN F32 scale(const std::byte* at) { return load_bf16(reinterpret_cast<const uint16_t*>(at)); }
};
template <typename Type>
struct LevelBlocks : Type {
  static constexpr BlockLayout kLayout = kNibbleLayout;
  static constexpr int kUnitBlocks = 2;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kScale;
  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t n_blocks, const Visit& visit) {
    const auto block = [&](int64_t i) QUIRE_INLINE_LAMBDA {
      const std::byte* body = unit + kLayout.header_bytes + i * kLayout.block_bytes;
      return block_of(TableBody<NibbleBody>{{body}, Type::kTable},
                      Terms<kTerms>{.scale = {Type::scale(unit + 32 * i)}});
    };
    if (n_blocks == 1) return visit(block(0));
    visit(block(0), block(1));
  }
};

struct IQ4_XS {
  static constexpr BlockLayout kLayout = kIQ4_XSLayout;
  static constexpr int kUnitBlocks = 8;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kScale;
  static constexpr CodeRange kRange = CodeRange::kEightBits;
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_128; }
  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t, const Visit& visit) {
    const F32 d = f16_lanes(unit);
    const auto block = [&](int j) QUIRE_INLINE_LAMBDA {
      const I32 high = shift_right_logical(load_u16x16(reinterpret_cast<const uint16_t*>(unit + 32)), 2 * j);
      const I32 low = shift_right_logical(as_i32(bload(unit + 64)), 4 * j);
      const I32 field = ior(iand(low, iset1(15)), iand(shift_left<4>(high), iset1(0x30)));
      const std::byte* body = unit + kLayout.header_bytes + j * (kLayout.block_bytes / 8);
      return block_of(TableBody<NibbleBody>{{body}, kIq4Levels.plus_offset},
                      Terms<kTerms>{.scale = {mul(to_f32(isub(field, iset1(32))), d)}});
    };
    QUIRE_NO_UNROLL for (int j = 0; j < 8; j += 2) visit(block(j), block(j + 1));
  }
};

// 4 slices: of each two, slice v: low nibble = step v of 16 values, high = step v + 2.
struct NvNibbles {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    const B64 pair = bload(slices + (kStep / 4 * 2 + kStep % 2) * kSliceBytes);
    return band(move_bits < kStep % 4 < 2 ? 0 : -4 > (pair), bset1(0x0f));
  }
};

struct NVFP4 {
  static constexpr BlockLayout kLayout = kNVFP4Layout;
  static constexpr int kUnitBlocks = 2;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kTwoScales;
  static constexpr CodeRange kRange = CodeRange::kSevenBits;
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_32_halves; }

  // ue4m3_half() (tensor/formats/fp4_values.h) of the lowest byte of each lane.
  QUIRE_VEC_FN F32 half_scale(I32 code) {
    const I32 magnitude = iand(code, iset1(0x7f));
    const I32 normal = iadd(shift_left<20>(magnitude), iset1(119 << 23));
    const F32 denormal = mul(to_f32(magnitude), set1(0x1p-10f));
    const F32 value = select(icmp_gt(magnitude, iset1(7)), f32_from_bits(normal), denormal);
    return select(icmp_eq(magnitude, iset1(0x7f)), zero(), value);
  }

  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t, const Visit& visit) {
    const I32 scales = as_i32(bload(unit));
    const auto block = [&](I32 two_scales, int i) QUIRE_INLINE_LAMBDA {
      const std::byte* body = unit + kLayout.header_bytes + i * (kLayout.block_bytes / 2);
      return block_of(
          TableBody<NvNibbles>{{body}, kNvfp4Levels.plus_offset},
          Terms<kTerms>{.scale = {half_scale(two_scales), half_scale(shift_right_logical<8>(two_scales))}});
    };
    visit(block(scales, 0), block(shift_right_logical<16>(scales), 1));
  }
};

struct I8x16 {
  static constexpr BlockLayout kLayout = kI8x16Layout;
  static constexpr int kUnitBlocks = 1;
  static constexpr int kUnitHeaders = 1;
  static constexpr TermKind kTerms = TermKind::kTwoScales;
  static constexpr CodeRange kRange = CodeRange::kEightBits;
  static const int32_t* start(const Q8x32Tile& tile) { return tile.start_128_halves; }
  template <typename Visit>
  QUIRE_VEC_FN void visit_unit(const std::byte* unit, int64_t, const Visit& visit) {
    const auto* scales = reinterpret_cast<const float*>(unit);
    visit(block_of(ByteBody{unit + kLayout.header_bytes},
                   Terms<kTerms>{.scale = {load(scales), load(scales + kLanes)}}));
  }
};

}  // namespace

void run_iq4_nl(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<LevelBlocks<IQ4_NL>>(args, group_begin, group_end);
}
void run_mxfp4(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<LevelBlocks<MXFP4>>(args, group_begin, group_end);
}
void run_iq4_xs(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<IQ4_XS>(args, group_begin, group_end);
}
void run_nvfp4(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<NVFP4>(args, group_begin, group_end);
}
void run_i8x16(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  run_blocks<I8x16>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
