// What every format file shares: loops over blocks and float-to-code rounding.
//
// A format supplies one function that unpacks a block to codes, scales and offsets; decoding is then the same
// formula for all of them (int8_codes.h), so there is one place per format that knows its bits.
// Internal to src/tensor/formats; pure; thread safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "tensor/int8_codes.h"

namespace quire {

enum class Offsets { kNone, kPerGroup };

// Sets one scale for n / 16 groups.
static inline void fill_groups(float* out, float value, int n) {
  for (int group = 0; group < n / kCodeGroup; ++group) out[group] = value;
}

// Calls unpack(block, out of that block) for each of n_elems / kElems blocks.
template <typename Block, int kElems>
void unpack_blocks(void (*unpack)(const Block&, const Int8Codes&), Offsets has_offsets,
                   const std::byte* blocks, const Int8Codes& out, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % kElems == 0);
  const auto* typed = reinterpret_cast<const Block*>(blocks);
  for (int64_t i = 0; i < n_elems / kElems; ++i) {
    const int64_t group = i * (kElems / kCodeGroup);
    unpack(typed[i], Int8Codes{.codes = out.codes + i * kElems,
                               .scales = out.scales + group,
                               .offsets = has_offsets == Offsets::kNone ? nullptr : out.offsets + group});
  }
}

// values = scale * code (+ offset), block by block.
template <typename Block, int kElems>
void decode_blocks(void (*unpack)(const Block&, const Int8Codes&), Offsets has_offsets,
                   const std::byte* blocks, float* values, int64_t n_elems) {
  QUIRE_DCHECK(n_elems >= 0 && n_elems % kElems == 0);
  const auto* typed = reinterpret_cast<const Block*>(blocks);
  int8_t codes[kElems];
  float scales[kElems / kCodeGroup];
  float offsets[kElems / kCodeGroup];
  const Int8Codes out{.codes = codes, .scales = scales, .offsets = offsets};
  for (int64_t i = 0; i < n_elems / kElems; ++i, values += kElems) {
    unpack(typed[i], out);
    for (int group = 0; group < kElems / kCodeGroup; ++group) {
      const float scale = scales[group];
      const int8_t* from = codes + group * kCodeGroup;
      float* to = values + group * kCodeGroup;
      if (has_offsets == Offsets::kNone) {
        // No "+ 0" here: it would turn -0 into +0.
        for (int l = 0; l < kCodeGroup; ++l) to[l] = scale * static_cast<float>(from[l]);
      } else {
        const float offset = offsets[group];
        for (int l = 0; l < kCodeGroup; ++l) to[l] = scale * static_cast<float>(from[l]) + offset;
      }
    }
  }
}

// `value` without its fraction, limited to [low, high]; a NaN gives low. Never undefined, whatever was
// encoded.
static inline int truncate_to(float value, int low, int high) {
  if (!(value > static_cast<float>(low))) return low;
  if (value >= static_cast<float>(high)) return high;
  return static_cast<int>(value);
}

// 1 / d in f32, or 0 where that is not a number a code can be computed with (d = 0, or so small that 1 / d
// overflows).
static inline float inverse_or_zero(float d) {
  const float inverse = d == 0.0f ? 0.0f : 1.0f / d;
  return inverse - inverse == 0.0f ? inverse : 0.0f;
}

}  // namespace quire
