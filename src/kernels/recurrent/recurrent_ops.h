// The recurrences of each ISA; kernel_table.cc collects them. Constant data, thread safe.
#pragma once

#include "kernels/recurrent.h"

namespace quire::kernels {

namespace scalar {
RecurrentOps recurrent_ops();
}
namespace avx2 {
RecurrentOps recurrent_ops();
}
namespace avx512 {
RecurrentOps recurrent_ops();
}
namespace avx512vnni {
RecurrentOps recurrent_ops();
}

}  // namespace quire::kernels
