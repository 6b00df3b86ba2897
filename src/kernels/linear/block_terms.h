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

// Codes and terms of 32 values. `body.codes<step>()` are the codes of values 4 step .. 4 step + 3.
template <typename Body, TermKind kKind>
struct Block {
  Body body;
  Terms<kKind> terms;
};
template <typename Body, TermKind kKind>
QUIRE_VEC_FN Block<Body, kKind> block_of(const Body& body, const Terms<kKind>& terms) {
  return {body, terms};
}

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

// What is asked for of memory beside the dot products of a step: nothing.
struct NothingAhead {
  template <int kStep>
  QUIRE_VEC_MEMBER void step() const {}
};

// The accumulators of kRows rows of a tile against one group. kKnownTileRows is the number of rows of the
// tile where the kernel knows it, else 0: a dot product whose activations lie at a register plus a constant
// is one operation for the front end, at the sum of two registers it is two; four rows of Q4_K were 20%
// slower.
//
// Two groups of six rows, which load an activation once for both, were 4-30% slower than one of twelve, whose
// dot products take activations from memory.
template <TermKind kKind, CodeRange kRange, int kRows, int kKnownTileRows = 0>
struct RowSums {
  F32 acc[kRows];
  RowActivations at;

  QUIRE_VEC_MEMBER explicit RowSums(const RowActivations& activations) : at(activations) {}

  // Adds the next blocks. The integer sums of several are formed side by side, which gives few rows the
  // chains of dot products that hide their latency; outputs take them in order.
  template <typename Ahead, typename... Bodies>
  QUIRE_VEC_MEMBER void add_blocks(const Ahead& ahead, const Block<Bodies, kKind>&... blocks) {
    constexpr int kBlocks = sizeof...(blocks);
    constexpr int kSteps = 8 / n_scales(kKind);
    const Terms<kKind> terms[] = {blocks.terms...};
    F32 t[kBlocks][kRows];
    {
      I32 sum[kBlocks][kRows];
      start_sums(sum, 0);
      add_steps<0, kSteps>(sum, ahead, blocks.body...);
      QUIRE_UNROLL for (int b = 0; b < kBlocks; ++b) {
        const F32 minus_bias = mul(terms[b].scale[0], set1(-kSumBias));
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
          t[b][m] = mul_add(f32_from_bits(sum[b][m]), terms[b].scale[0], minus_bias);
        }
      }
    }
    if constexpr (n_scales(kKind) == 2) {
      I32 sum[kBlocks][kRows];
      start_sums(sum, 1);
      add_steps<kSteps, 8>(sum, ahead, blocks.body...);
      const F32 bias = set1(kSumBias);
      QUIRE_UNROLL for (int b = 0; b < kBlocks; ++b) {
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
          t[b][m] = mul_add(sub(f32_from_bits(sum[b][m]), bias), terms[b].scale[1], t[b][m]);
        }
      }
    }
    QUIRE_UNROLL for (int b = 0; b < kBlocks; ++b) add_terms(terms[b], t[b]);
  }
  template <typename Body>
  QUIRE_VEC_MEMBER void add_block(const Body& body, const Terms<kKind>& terms) {
    add_blocks(NothingAhead{}, block_of(body, terms));
  }

 private:
  QUIRE_VEC_MEMBER int64_t tile_rows() const {
    if constexpr (kKnownTileRows > 0) return kKnownTileRows;
    return at.tile_rows;
  }

  template <int kBlocks>
  QUIRE_VEC_MEMBER void start_sums(I32 (&sum)[kBlocks][kRows], int half) const {
    QUIRE_UNROLL for (int b = 0; b < kBlocks; ++b) {
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
        sum[b][m] = iset1(n_offsets(kKind) > 0 ? kSumBiasBits
                                               : at.start[(b * n_scales(kKind) + half) * tile_rows() + m]);
      }
    }
  }

  template <int kStep, int kEnd, int kBlocks, typename Ahead, typename... Bodies>
  QUIRE_VEC_MEMBER void add_steps(I32 (&sum)[kBlocks][kRows], const Ahead& ahead,
                                  const Bodies&... bodies) const {
    int b = 0;
    const auto add_dots = [&](B64 codes) QUIRE_INLINE_LAMBDA {
      const int8_t* activations = at.codes + b * tile_rows() * kActivationBlock + 4 * kStep;
      QUIRE_UNROLL for (int m = 0; m < kRows; ++m) {
        sum[b][m] = dot_codes<kRange>(sum[b][m], codes, activations + m * kActivationBlock);
      }
      ++b;
    };
    (add_dots(bodies.template codes<kStep>()), ...);
    ahead.template step<kStep>();
    if constexpr (kStep + 1 < kEnd) add_steps<kStep + 1, kEnd>(sum, ahead, bodies...);
  }

  // Offsets and activation scales of a block, whose scaled integer sums are t.
  QUIRE_VEC_MEMBER void add_terms(const Terms<kKind>& terms, F32 (&t)[kRows]) {
    if constexpr (n_offsets(kKind) > 0) {
      for (int i = 0; i < n_offsets(kKind); ++i) {
        const float* sums = at.sums + i * tile_rows();
        QUIRE_UNROLL for (int m = 0; m < kRows; ++m) t[m] = mul_add(terms.offset[i], set1(sums[m]), t[m]);
      }
      at.sums += n_offsets(kKind) * tile_rows();
    } else {
      at.start += n_scales(kKind) * tile_rows();
    }
    QUIRE_UNROLL for (int m = 0; m < kRows; ++m) acc[m] = mul_add(t[m], set1(at.scales[m]), acc[m]);
    at.codes += tile_rows() * kActivationBlock;
    at.scales += tile_rows();
  }
};

// Between two blocks: the compiler neither holds what it loaded for the first in registers for the second,
// nor starts the second early; both would cost registers that the sums of 12 rows need.
QUIRE_VEC_FN void end_of_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

}  // namespace quire::kernels::QUIRE_ISA
