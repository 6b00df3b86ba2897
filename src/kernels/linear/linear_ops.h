// The linear kernels of each ISA; kernel_table.cc collects them. Constant data, thread safe.
#pragma once

#include "kernels/linear.h"

namespace quire::kernels {

namespace scalar {
LinearOps linear_ops();
}
namespace avx2 {
LinearOps linear_ops();
}
namespace avx512 {
LinearOps linear_ops();
}
namespace avx512vnni {
LinearOps linear_ops();
}
namespace amx {
LinearOps linear_ops();
}

}  // namespace quire::kernels
