// The 6-bit scales and minimums that Q4_K and Q5_K share: eight of each in 12 bytes.
//
// Pure functions with internal linkage.
#pragma once

#include <cstdint>

namespace quire {

// Scale of sub-block j = 0..7, 0..63. The first four sit in the low six bits of bytes 0-3; the others in the
// low nibbles of bytes 8-11, with their top two bits above the scales of sub-block j - 4.
static inline int k_scale(const uint8_t* scales, int j) {
  if (j < 4) return scales[j] & 63;
  return (scales[j + 4] & 15) | ((scales[j - 4] >> 6) << 4);
}

// Minimum of sub-block j = 0..7, 0..63: bytes 4-7 and the high nibbles of bytes 8-11, in the same way.
static inline int k_min(const uint8_t* scales, int j) {
  if (j < 4) return scales[j + 4] & 63;
  return (scales[j + 4] >> 4) | ((scales[j] >> 6) << 4);
}

}  // namespace quire
