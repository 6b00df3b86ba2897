// Loops whose bounds are template arguments, and lambdas, that must not stay calls. For *.kern.cc files.
#pragma once

#define QUIRE_UNROLL _Pragma("GCC unroll 16")
#define QUIRE_NO_UNROLL _Pragma("GCC unroll 1")
#define QUIRE_INLINE_LAMBDA __attribute__((always_inline))
