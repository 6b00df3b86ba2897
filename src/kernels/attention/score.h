// What both forms of keys share: the cut of a chunk into pages, and how a score becomes an exponent.
#pragma once

#include "kernels/attention.h"
#include "kernels/vec/math.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

inline constexpr int kPagesPerChunk = kChunkTokens / kPageTokens;
static_assert(kPageTokens == kLanes);

// Register use follows from what an F32 is: one register of 32, two of 16, or an array in memory.
inline constexpr bool kOneRegister = alignof(F32) == kLanes * sizeof(float);
inline constexpr bool kNoRegister = alignof(F32) == sizeof(float);

// What exp() subtracts: the maximum, or 0 when every score is -Inf (so that their weights are 0 and not NaN).
QUIRE_VEC_FN float exp_shift(float max_score) { return max_score > -__builtin_inff() ? max_score : 0.0f; }
QUIRE_VEC_FN F32 exp_shift(F32 max_score) {
  return select(cmp_gt(max_score, set1(-__builtin_inff())), max_score, zero());
}

// What the softmax sees of a raw score.
QUIRE_VEC_FN F32 capped(F32 score, float softcap) {
  return softcap > 0 ? mul(set1(softcap), tanh(mul(score, set1(1.0f / softcap)))) : score;
}

}  // namespace quire::kernels::QUIRE_ISA
