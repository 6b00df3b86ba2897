// opaque(x): hides where a value came from, at no cost, so that the optimiser neither folds nor hoists what
// is computed from it. opaque_pointer(p): the same for an address, which a loop then keeps in a register of
// its own. Include from *.kern.cc files only.
#pragma once

#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {

#if defined(QUIRE_ISA_IS_AVX512) || defined(QUIRE_ISA_IS_AVX512VNNI)
template <typename V>
QUIRE_VEC_FN void opaque(V& x) {
  __asm__ volatile("" : "+v"(x.v));
}
#elif defined(QUIRE_ISA_IS_AVX2)
template <typename V>
QUIRE_VEC_FN void opaque(V& x) {
  __asm__ volatile("" : "+x"(x.lo), "+x"(x.hi));
}
#else
template <typename V>
QUIRE_VEC_FN void opaque(V& x) {
  __asm__ volatile("" : "+m"(x));
}
#endif

// The pointer again, its origin forgotten.
template <typename T>
QUIRE_VEC_FN const T* opaque_pointer(const T* p) {
  __asm__ volatile("" : "+r"(p));
  return p;
}

}  // namespace quire::kernels::QUIRE_ISA
