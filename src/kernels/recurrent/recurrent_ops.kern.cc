#include "kernels/recurrent.h"

#include "kernels/recurrent/families.h"

namespace quire::kernels::QUIRE_ISA {

RecurrentOps recurrent_ops() {
  return {.conv = conv_op(), .scan = scan_op(), .channel_scan = channel_scan_op(), .delta = delta_op()};
}

}  // namespace quire::kernels::QUIRE_ISA
