// The point tables of the IQ1, IQ2 and IQ3 formats and the readers their decoders share.
//
// The points were found by a search over trained weights and follow no formula; they are part of the file
// format. A table entry packs the level indices of its values, lowest bits first: IQ1 and IQ2 eight of 2
// bits, IQ3 four of 4 bits. Internal to src/tensor/formats; constant data.
#pragma once

#include <cstdint>

namespace quire {

extern const uint16_t kIq2XxsGrid[256];
extern const uint16_t kIq2XsGrid[512];
extern const uint16_t kIq2SGrid[1024];
extern const uint16_t kIq3XxsGrid[256];
extern const uint16_t kIq3SGrid[512];
extern const uint16_t kIq1Grid[2048];

// Magnitudes that the level indices stand for; IQ1 has -1, 0, 1.
constexpr int8_t kIq2Levels[4] = {8, 25, 43, 0};  // index 3 does not occur
constexpr int8_t kIq3XxsLevels[8] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr int8_t kIq3SLevels[8] = {1, 3, 5, 7, 9, 11, 13, 15};

static inline uint16_t load_u16(const uint8_t* bytes) {
  return static_cast<uint16_t>(bytes[0] | (bytes[1] << 8));
}
static inline uint32_t load_u32(const uint8_t* bytes) {
  return load_u16(bytes) | (static_cast<uint32_t>(load_u16(bytes + 2)) << 16);
}

// The eight signs of a 7-bit sign index: the eighth makes the number of negatives even.
static inline uint32_t sign_mask(uint32_t index) {
  return index | (static_cast<uint32_t>(__builtin_parity(index)) << 7);
}

// Writes the eight codes of an IQ2 point; bit k of signs negates value k.
static inline void put_iq2(uint32_t point, uint32_t signs, int8_t* codes) {
  for (int k = 0; k < 8; ++k) {
    const int level = kIq2Levels[(point >> (2 * k)) & 3];
    codes[k] = static_cast<int8_t>(((signs >> k) & 1) != 0 ? -level : level);
  }
}

// Writes the four codes of an IQ3 point.
static inline void put_iq3(uint32_t point, const int8_t* levels, uint32_t signs, int8_t* codes) {
  for (int k = 0; k < 4; ++k) {
    const int level = levels[(point >> (4 * k)) & 7];
    codes[k] = static_cast<int8_t>(((signs >> k) & 1) != 0 ? -level : level);
  }
}

// Writes the eight codes of an IQ1 point in eighths: 8 * value + shift, shift = +-1.
static inline void put_iq1(uint32_t point, int shift, int8_t* codes) {
  for (int k = 0; k < 8; ++k) {
    codes[k] = static_cast<int8_t>(8 * (static_cast<int>((point >> (2 * k)) & 3) - 1) + shift);
  }
}

}  // namespace quire
