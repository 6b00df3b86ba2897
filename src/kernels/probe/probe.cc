#include "kernels/probe.h"

#include "base/check.h"
#include "kernels/probe/getters.h"

namespace quire::kernels {

ProbeOps probe_ops(Isa isa) {
  QUIRE_CHECK(isa_supported(isa));
  switch (isa) {
    case Isa::kScalar:
      return scalar::probe_ops();
    case Isa::kAvx2:
      return avx2::probe_ops();
    case Isa::kAvx512:
      return avx512::probe_ops();
    case Isa::kAvx512Vnni:
    case Isa::kAmx:
      return avx512vnni::probe_ops();
  }
  check_failed(__FILE__, __LINE__, "isa", "not a known instruction set");
}

}  // namespace quire::kernels
