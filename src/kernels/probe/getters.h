// The probes of each ISA; probe.cc collects them.
#pragma once

#include "kernels/probe.h"

namespace quire::kernels {

namespace scalar {
ProbeOps probe_ops();
}
namespace avx2 {
ProbeOps probe_ops();
}
namespace avx512 {
ProbeOps probe_ops();
}
namespace avx512vnni {
ProbeOps probe_ops();
}

}  // namespace quire::kernels
