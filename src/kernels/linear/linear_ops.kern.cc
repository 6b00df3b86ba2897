// The kernel rows of one ISA.

#include "kernels/linear/linear_ops.h"
#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/packed_formats.h"

#define QUIRE_QUOTED(x) #x
#define QUIRE_NAME_OF(x) QUIRE_QUOTED(x)
#define QUIRE_LINEAR_ROW(format, packed) \
  { #format "/" QUIRE_NAME_OF(QUIRE_ISA), kIsa, &packed, run_##format }

namespace quire::kernels::QUIRE_ISA {
namespace {

#if defined(QUIRE_ISA_IS_SCALAR)
constexpr Isa kIsa = Isa::kScalar;
#elif defined(QUIRE_ISA_IS_AVX2)
constexpr Isa kIsa = Isa::kAvx2;
#elif defined(QUIRE_ISA_IS_AVX512)
constexpr Isa kIsa = Isa::kAvx512;
#else
constexpr Isa kIsa = Isa::kAvx512Vnni;
#endif

constexpr LinearKernel kKernels[] = {
    QUIRE_LINEAR_ROW(q4_k, kPackedQ4_K),     QUIRE_LINEAR_ROW(q5_k, kPackedQ5_K),
    QUIRE_LINEAR_ROW(q6_k, kPackedQ6_K),     QUIRE_LINEAR_ROW(q8_0, kPackedQ8_0),
    QUIRE_LINEAR_ROW(q4_0, kPackedQ4_0),     QUIRE_LINEAR_ROW(q4_1, kPackedQ4_1),
    QUIRE_LINEAR_ROW(q5_0, kPackedQ5_0),     QUIRE_LINEAR_ROW(q5_1, kPackedQ5_1),
    QUIRE_LINEAR_ROW(iq4_nl, kPackedIQ4_NL), QUIRE_LINEAR_ROW(mxfp4, kPackedMXFP4),
    QUIRE_LINEAR_ROW(i8x16, kPackedI8x16),   QUIRE_LINEAR_ROW(i8x16_offset, kPackedI8x16Offset),
    QUIRE_LINEAR_ROW(f16, kPackedF16),       QUIRE_LINEAR_ROW(bf16, kPackedBF16),
    QUIRE_LINEAR_ROW(f32, kPackedF32),
};

}  // namespace

LinearOps linear_ops() { return {kKernels, quantize_rows}; }

}  // namespace quire::kernels::QUIRE_ISA
