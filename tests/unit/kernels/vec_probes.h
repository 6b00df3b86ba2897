// The probe table of an ISA this machine can run.
#pragma once

#include <span>

#include "kernels/isa.h"
#include "vec_probe.h"

namespace quire::kernels::test {

inline std::span<const Probe> probes_of(Isa isa) {
  const ProbeTable table = [&] {
    switch (isa) {
      case Isa::kScalar:
        return scalar::vec_probes();
      case Isa::kAvx2:
        return avx2::vec_probes();
      case Isa::kAvx512:
        return avx512::vec_probes();
      case Isa::kAvx512Vnni:
      case Isa::kAmx:
        return avx512vnni::vec_probes();
    }
    return ProbeTable{};
  }();
  return {table.probes, table.n};
}

}  // namespace quire::kernels::test
