// Quantised blocks as int8 codes with one f32 scale (and for some types one f32 offset) per 16 values.
//
// For every block type that has an unpack function (element_type.h) the decoded value is, to the bit and in
// this order of operations, scales[i / 16] * codes[i], plus offsets[i / 16] where the type has offsets. So
// one kernel layout can hold all of them. F32, F16, BF16, F64 and the integer types are not block types and
// have no codes. Nothing here owns memory.
//
//   element_type_info(type).unpack(blocks, Int8Codes{codes, scales, offsets}, n_elems);
#pragma once

#include <cstdint>

namespace quire {

constexpr int kCodeGroup = 16;  // values that share a scale

// Where the codes of n values go.
struct Int8Codes {
  int8_t* codes;   // [n]
  float* scales;   // [n / 16]
  float* offsets;  // [n / 16]; not touched, and may be null, for types without offsets
};

}  // namespace quire
