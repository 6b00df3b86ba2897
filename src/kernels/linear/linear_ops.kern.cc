#include "kernels/linear/linear_ops.h"

#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/packed_formats.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

#define QUIRE_TEXT_OF(name) #name
#define QUIRE_NAME_ON(name, isa) name "/" QUIRE_TEXT_OF(isa)
#define QUIRE_LINEAR_KERNEL(name, format) {QUIRE_NAME_ON(#name, QUIRE_ISA), kIsa, &(format), run_##name},
constexpr LinearKernel kKernels[] = {
#include "kernels/linear/kernels.inc"
};
#undef QUIRE_LINEAR_KERNEL
#undef QUIRE_NAME_ON
#undef QUIRE_TEXT_OF

// Constant, so that no function of std::span is compiled for this ISA.
constexpr LinearOps kOps = {.kernels = kKernels, .quantize = quantize_rows};

}  // namespace

LinearOps linear_ops() { return kOps; }

}  // namespace quire::kernels::QUIRE_ISA
