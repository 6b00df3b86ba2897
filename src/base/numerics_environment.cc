#include "base/numerics_environment.h"

namespace quire {
namespace {

#if defined(__x86_64__)

// MXCSR (Intel SDM vol. 1, 10.2.3): bits 0-5 sticky flags, 6 DAZ, 7-12 exception masks, 13-14 rounding, 15
// FTZ.
constexpr uint64_t kStickyFlags = 0x003F;
constexpr uint64_t kControl = 0x1F80;  // all exceptions masked, round to nearest, FTZ and DAZ off

uint64_t read_control() { return __builtin_ia32_stmxcsr(); }
void write_control(uint64_t value) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(value)); }

#elif defined(__aarch64__)

// FPCR: rounding 00 = nearest, FZ and FZ16 off, trapping off, default NaN off. The flags live elsewhere
// (FPSR).
constexpr uint64_t kStickyFlags = 0;
constexpr uint64_t kControl = 0;

uint64_t read_control() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void write_control(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }

#else
#error "no floating-point control is known for this architecture"
#endif

// Writing the register drains the pipeline, so it is skipped when nothing would change.
void apply(uint64_t control) {
  const uint64_t now = read_control();
  const uint64_t wanted = (now & kStickyFlags) | (control & ~kStickyFlags);
  if (wanted != now) write_control(wanted);
}

}  // namespace

void set_numerics_environment() { apply(kControl); }

NumericsScope::NumericsScope() : saved_(read_control()) { apply(kControl); }
NumericsScope::~NumericsScope() { apply(saved_); }

}  // namespace quire
