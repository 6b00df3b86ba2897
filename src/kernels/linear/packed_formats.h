// The packed formats by name; packed_format() (linear.h) chooses among them. Constant data.
#pragma once

#include "kernels/linear.h"

namespace quire::kernels {

extern const PackedFormat kPackedF32;  // also any quantised type in the exact setting
extern const PackedFormat kPackedF16;
extern const PackedFormat kPackedBF16;
extern const PackedFormat kPackedQ4_0;
extern const PackedFormat kPackedQ4_1;
extern const PackedFormat kPackedQ5_0;
extern const PackedFormat kPackedQ5_1;
extern const PackedFormat kPackedQ8_0;
extern const PackedFormat kPackedIQ4_NL;
extern const PackedFormat kPackedMXFP4;
extern const PackedFormat kPackedQ4_K;
extern const PackedFormat kPackedQ5_K;
extern const PackedFormat kPackedQ6_K;
extern const PackedFormat kPackedQ2_K;
extern const PackedFormat kPackedQ3_K;
extern const PackedFormat kPackedIQ4_XS;
extern const PackedFormat kPackedNVFP4;
extern const PackedFormat kPackedI8x16;  // the other types, which are scale * code

}  // namespace quire::kernels
