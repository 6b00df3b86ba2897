// Chains of one instruction in named variables: compilers leave arrays of accumulators in memory, and a probe
// then times stores. Twelve chains hide the latency of two pipes; where a vector takes two registers, four
// are eight chains of the machine's, and all that sixteen registers hold beside the operands.
#include "kernels/probe/getters.h"
#include "kernels/vec/opaque.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

constexpr bool kTwelveChains = alignof(F32) == kLanes * sizeof(float);  // one register
constexpr int64_t kChains = kTwelveChains ? 12 : 4;

QUIRE_VEC_FN I32 dot_step(I32 sum, B64& weights, I32 activations) {
  opaque(weights);  // else products of unchanging operands are computed once
  return dot_u7s8(sum, weights, activations);
}

int64_t dot_rounds(int64_t rounds) {
  B64 w = bset1(3);
  const I32 x = as_i32(bset1(5));
  I32 a = izero(), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;
  for (int64_t r = 0; r < rounds; ++r) {
    a = dot_step(a, w, x);
    b = dot_step(b, w, x);
    c = dot_step(c, w, x);
    d = dot_step(d, w, x);
    if constexpr (kTwelveChains) {
      e = dot_step(e, w, x);
      f = dot_step(f, w, x);
      g = dot_step(g, w, x);
      h = dot_step(h, w, x);
      i = dot_step(i, w, x);
      j = dot_step(j, w, x);
      k = dot_step(k, w, x);
      l = dot_step(l, w, x);
    }
  }
  I32 sum = iadd(iadd(iadd(a, b), iadd(c, d)), iadd(e, f));
  sum = iadd(sum, iadd(iadd(iadd(g, h), iadd(i, j)), iadd(k, l)));
  opaque(sum);
  return rounds * kChains * 64 * 2;
}

QUIRE_VEC_FN F32 fma_step(F32 sum, F32& x, F32 y) {
  opaque(x);
  return mul_add(x, y, sum);
}

int64_t fma_rounds(int64_t rounds) {
  F32 x = set1(1.5f);
  const F32 y = set1(0.25f);
  F32 a = zero(), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;
  for (int64_t r = 0; r < rounds; ++r) {
    a = fma_step(a, x, y);
    b = fma_step(b, x, y);
    c = fma_step(c, x, y);
    d = fma_step(d, x, y);
    if constexpr (kTwelveChains) {
      e = fma_step(e, x, y);
      f = fma_step(f, x, y);
      g = fma_step(g, x, y);
      h = fma_step(h, x, y);
      i = fma_step(i, x, y);
      j = fma_step(j, x, y);
      k = fma_step(k, x, y);
      l = fma_step(l, x, y);
    }
  }
  F32 sum = add(add(add(a, b), add(c, d)), add(e, f));
  sum = add(sum, add(add(add(g, h), add(i, j)), add(k, l)));
  opaque(sum);
  return rounds * kChains * kLanes * 2;
}

uint32_t read(const std::byte* data, size_t bytes) {
  B64 a = bset1(0), b = a, c = a, d = a;
  for (size_t i = 0; i < bytes; i += 1024) {
    const std::byte* p = data + i;
    for (int line = 0; line < 16; line += 4) {
      a = bxor(a, bload(p + line * 64));
      b = bxor(b, bload(p + line * 64 + 64));
      c = bxor(c, bload(p + line * 64 + 128));
      d = bxor(d, bload(p + line * 64 + 192));
    }
  }
  return static_cast<uint32_t>(ireduce_add(as_i32(bxor(bxor(a, b), bxor(c, d)))));
}

}  // namespace

ProbeOps probe_ops() { return {.dot_rounds = dot_rounds, .fma_rounds = fma_rounds, .read = read}; }

}  // namespace quire::kernels::QUIRE_ISA
