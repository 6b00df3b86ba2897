// Q4_K: four-bit codes with a 6-bit scale and minimum per 32 values.

#include "kernels/linear/kernel_functions.h"
#include "kernels/linear/q45_k.h"

namespace quire::kernels::QUIRE_ISA {

void run_q4_k(const LinearArgs& args, int64_t group_begin, int64_t group_end) {
  walk<Q45KKernel<CodeBits::kFour>>(args, group_begin, group_end);
}

}  // namespace quire::kernels::QUIRE_ISA
