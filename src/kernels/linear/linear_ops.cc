#include "kernels/linear/linear_ops.h"

#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/packed_formats.h"

namespace quire::kernels {

namespace scalar {
#define QUIRE_LINEAR_KERNEL(name, format) {#name "/scalar", Isa::kScalar, &(format), run_##name},
static constexpr LinearKernel kKernels[] = {
#include "kernels/linear/kernels.inc"
};
#undef QUIRE_LINEAR_KERNEL
LinearOps linear_ops() { return {kKernels, quantize_rows}; }
}  // namespace scalar

namespace avx2 {
#define QUIRE_LINEAR_KERNEL(name, format) {#name "/avx2", Isa::kAvx2, &(format), run_##name},
static constexpr LinearKernel kKernels[] = {
#include "kernels/linear/kernels.inc"
};
#undef QUIRE_LINEAR_KERNEL
LinearOps linear_ops() { return {kKernels, quantize_rows}; }
}  // namespace avx2

namespace avx512 {
#define QUIRE_LINEAR_KERNEL(name, format) {#name "/avx512", Isa::kAvx512, &(format), run_##name},
static constexpr LinearKernel kKernels[] = {
#include "kernels/linear/kernels.inc"
};
#undef QUIRE_LINEAR_KERNEL
LinearOps linear_ops() { return {kKernels, quantize_rows}; }
}  // namespace avx512

namespace avx512vnni {
#define QUIRE_LINEAR_KERNEL(name, format) {#name "/avx512vnni", Isa::kAvx512Vnni, &(format), run_##name},
static constexpr LinearKernel kKernels[] = {
#include "kernels/linear/kernels.inc"
};
#undef QUIRE_LINEAR_KERNEL
LinearOps linear_ops() { return {kKernels, quantize_rows}; }
}  // namespace avx512vnni

namespace amx {
#define QUIRE_LINEAR_KERNEL(name, format) {#name "/amx", Isa::kAmx, &(format), run_##name},
static constexpr LinearKernel kKernels[] = {
#include "kernels/linear/kernels.inc"
};
#undef QUIRE_LINEAR_KERNEL
LinearOps linear_ops() { return {kKernels, quantize_rows}; }
}  // namespace amx

}  // namespace quire::kernels
