// cpu_pause(): tells the core that this is a spin-wait loop. No effect on memory; callable from any thread.
#pragma once

namespace quire {

inline void cpu_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace quire
