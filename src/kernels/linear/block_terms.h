// What a block of 32 values adds to the outputs of some rows: the arithmetic of docs/numerics.md, "Linear
// layers", written once for all quantised types. For *.kern.cc files.
//
// Per block ascending, per output, with isum the exact integer dot product of codes and activation codes:
//   t = isum * scale              (two scales: t = isum_0 * scale_0, then t = fma(isum_1, scale_1, t))
//   t = fma(offset, asum, t)      where the type has offsets, each with the sum of its activation codes
//   acc = fma(t, a_scale, acc)
// The integer sum starts at kSumBiasBits, so that its bits are the float kSumBias + isum, and
// isum * scale = fma(kSumBias + isum, scale, -(kSumBias * scale)) is rounded once: scales are small integers
// times an f16, bf16 or 8-bit float, so that kSumBias * scale is exact. That saves a conversion per output.
#pragma once

#include <cstddef>

#include "kernels/linear/activation_layout.h"
#include "kernels/linear/weight_layout.h"
#include "kernels/vec/unroll.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

// Scales of a block: one for its 32 values or one for each 16; offsets likewise, or none.
enum class TermKind { kScale, kScaleOffset, kTwoScales, kTwoScalesOffsets };

constexpr int n_scales(TermKind kind) {
  return kind == TermKind::kTwoScales || kind == TermKind::kTwoScalesOffsets ? 2 : 1;
}
constexpr int n_offsets(TermKind kind) {
  return kind == TermKind::kScaleOffset ? 1 : kind == TermKind::kTwoScalesOffsets ? 2 : 0;
}

// Scales and offsets of a block, a lane per output.
template <TermKind kKind>
struct Terms {
  F32 scale[n_scales(kKind)];
};
template <TermKind kKind>
  requires(n_offsets(kKind) > 0)
struct Terms<kKind> {
  F32 scale[n_scales(kKind)];
  F32 offset[n_offsets(kKind)];
};

// Codes as stored: below 128, or any byte.
enum class CodeRange { kSevenBits, kEightBits };

template <CodeRange kRange>
QUIRE_VEC_FN I32 dot_codes(I32 sum, B64 codes, const int8_t* activations) {
  if constexpr (kRange == CodeRange::kSevenBits) return dot_u7s8(sum, codes, activations);
  return dot_u8s8(sum, codes, activations);
}

// Activations of the rows of a tile, from some block on. `start` is null for types with offsets, whose codes
// are stored as they are; `sums` is null for the others.
struct RowActivations {
  const int8_t* codes;   // [n_blocks][tile rows][32]
  const float* scales;   // [n_blocks][tile rows]
  const int32_t* start;  // [n_blocks][scales of a block][tile rows]: what integer sums start at
  const float* sums;     // [n_blocks][offsets of a block][tile rows]: sums of activation codes
  int64_t tile_rows;
};

// The accumulators of kRows rows of a tile against one group.
//
// Two groups of six rows, which load an activation once for both, were 4-30% slower than one of twelve, whose
// dot products take activations from memory.
template <TermKind kKind, CodeRange kRange, int kRows>
struct RowSums {
  F32 acc[kRows];
  RowActivations at;

  QUIRE_VEC_MEMBER explicit RowSums(const RowActivations& activations) : at(activations) {}

  // Adds the next block. `body.codes<step>()` are the codes of values 4 step .. 4 step + 3.
  template <typename Body>
  QUIRE_VEC_MEMBER void add_block(const Body& body, const Terms<kKind>& terms) {
    constexpr int kSteps = 8 / n_scales(kKind);
    const F32 minus_bias = mul(terms.scale[0], set1(-kSumBias));
    F32 t[kRows];
    {
      I32 sum[kRows];
      start_sums(sum, 0);
      add_steps<Body, 0, kSteps>(sum, body);
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
        t[m] = mul_add(f32_from_bits(sum[m]), terms.scale[0], minus_bias);
      }
    }
    if constexpr (n_scales(kKind) == 2) {
      I32 sum[kRows];
      start_sums(sum, 1);
      add_steps<Body, kSteps, 8>(sum, body);
      const F32 bias = set1(kSumBias);
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
        t[m] = mul_add(sub(f32_from_bits(sum[m]), bias), terms.scale[1], t[m]);
      }
    }
    if constexpr (n_offsets(kKind) > 0) {
      for (int i = 0; i < n_offsets(kKind); ++i) {
        const float* sums = at.sums + i * at.tile_rows;
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) t[m] = mul_add(terms.offset[i], set1(sums[m]), t[m]);
      }
      at.sums += n_offsets(kKind) * at.tile_rows;
    } else {
      at.start += n_scales(kKind) * at.tile_rows;
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = mul_add(t[m], set1(at.scales[m]), acc[m]);
    at.codes += at.tile_rows * kActivationBlock;
    at.scales += at.tile_rows;
  }

 private:
  QUIRE_VEC_MEMBER void start_sums(I32 (&sum)[kRows], int half) const {
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
      sum[m] = iset1(n_offsets(kKind) > 0 ? kSumBiasBits : at.start[half * at.tile_rows + m]);
    }
  }

  template <typename Body, int kStep, int kEnd>
  QUIRE_VEC_MEMBER void add_steps(I32 (&sum)[kRows], const Body& body) const {
    const B64 codes = body.template codes<kStep>();
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
      sum[m] = dot_codes<kRange>(sum[m], codes, at.codes + m * kActivationBlock + 4 * kStep);
    }
    if constexpr (kStep + 1 < kEnd) add_steps<Body, kStep + 1, kEnd>(sum, body);
  }
};

// 8 slices, slice s = step s.
struct ByteBody {
  const std::byte* slices;
  template <int kStep>
  QUIRE_VEC_MEMBER B64 codes() const {
    return bload(slices + kStep * kSliceBytes);
  }
};

// Between two blocks: the compiler neither holds what it loaded for the first in registers for the second,
// nor starts the second early; both would cost registers that the sums of 12 rows need.
QUIRE_VEC_FN void end_of_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

}  // namespace quire::kernels::QUIRE_ISA
