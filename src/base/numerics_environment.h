// The floating-point environment every computing thread must have (docs/numerics.md): round to nearest,
// denormals kept (no flush to zero, no denormals-are-zero), exceptions masked.
//
//   const NumericsScope scope;   // this thread has it until the end of the block
#pragma once

#include <cstdint>

namespace quire {

// Sets the environment on the calling thread (x86: MXCSR, AArch64: FPCR). Idempotent.
void set_numerics_environment();

// Sets the environment and puts the caller's own back at the end. Not to be moved between threads.
class NumericsScope {
 public:
  NumericsScope();
  ~NumericsScope();
  NumericsScope(const NumericsScope&) = delete;
  NumericsScope& operator=(const NumericsScope&) = delete;

 private:
  uint64_t saved_;
};

}  // namespace quire
