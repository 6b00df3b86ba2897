// The row operations of each ISA; kernel_table.cc collects them. Constant data, thread safe.
#pragma once

#include "kernels/row_ops.h"

namespace quire::kernels {

namespace scalar {
RowOps row_ops();
}
namespace avx2 {
RowOps row_ops();
}
namespace avx512 {
RowOps row_ops();
}
namespace avx512vnni {
RowOps row_ops();
}

}  // namespace quire::kernels
