// Probes: loops that do nothing but one thing, to measure what this machine can do at most.
//
// They use the vector layer's own primitives, so that a kernel's speed can be set beside them. Constant data
// and pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace quire::kernels {

struct ProbeOps {
  // `rounds` rounds of independent int8 dot products from registers; returns the operations done (a
  // multiply-add counts as two).
  int64_t (*dot_rounds)(int64_t rounds);
  // The same with f32 fused multiply-adds.
  int64_t (*fma_rounds)(int64_t rounds);
  // Reads every byte of [data, data + bytes), a multiple of 1024, and returns a mixture of them.
  uint32_t (*read)(const std::byte* data, size_t bytes);
};

// Running the probes of an ISA this machine lacks is a programmer error.
ProbeOps probe_ops(Isa isa);

}  // namespace quire::kernels
