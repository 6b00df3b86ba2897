#include "vec_probe.h"

#include "kernels/vec/math.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

using test::Probe;
using test::ProbeInput;
using test::ProbeOutput;

// A row whose body stores one F32 (or I32, or Mask) expression of the inputs.
#define PROBE_F32(name, expression)                                                \
  {                                                                                \
    name, [](const ProbeInput& in, ProbeOutput& out) { store(out.f, expression); } \
  }
#define PROBE_I32(name, expression)                                                 \
  {                                                                                 \
    name, [](const ProbeInput& in, ProbeOutput& out) { istore(out.i, expression); } \
  }
#define PROBE_MASK(name, expression)                          \
  {                                                           \
    name, [](const ProbeInput& in, ProbeOutput& out) {        \
      out.i[0] = static_cast<int32_t>(mask_bits(expression)); \
    }                                                         \
  }
#define PROBE(name, statement)                                      \
  {                                                                 \
    name, [](const ProbeInput& in, ProbeOutput& out) { statement; } \
  }
#define A load(in.a)
#define B load(in.b)
#define C load(in.c)
#define IA iload(in.ia)
#define IB iload(in.ib)
#define BYTES bload(in.bytes)
#define MORE bload(in.more_bytes)

const Probe kProbes[] = {
    PROBE_F32("set1", set1(in.a[0])),
    PROBE_F32("zero", add(zero(), A)),
    PROBE_F32("load_partial", load_partial(in.edge_f32, in.n)),
    PROBE("store_partial", store_partial(out.edge_f32, A, in.n)),
    PROBE_F32("add", add(A, B)),
    PROBE_F32("sub", sub(A, B)),
    PROBE_F32("mul", mul(A, B)),
    PROBE_F32("div", div(A, B)),
    PROBE_F32("sqrt", sqrt(A)),
    PROBE_F32("mul_add", mul_add(A, B, C)),
    PROBE_F32("mul_sub", mul_sub(A, B, C)),
    PROBE_F32("neg_mul_add", neg_mul_add(A, B, C)),
    PROBE_F32("min", min(A, B)),
    PROBE_F32("max", max(A, B)),
    PROBE_F32("abs", abs(A)),
    PROBE_F32("neg", neg(A)),
    PROBE_F32("round_even", round_even(A)),
    PROBE_F32("floor", floor(A)),
    PROBE_MASK("cmp_lt", cmp_lt(A, B)),
    PROBE_MASK("cmp_le", cmp_le(A, B)),
    PROBE_MASK("cmp_eq", cmp_eq(A, B)),
    PROBE_MASK("cmp_gt", cmp_gt(A, B)),
    PROBE_MASK("cmp_unord", cmp_unord(A, B)),
    PROBE_F32("select", select(cmp_lt(B, C), A, B)),
    PROBE_MASK("mask_first", mask_first(in.ia[0] % 20)),
    PROBE_MASK("mask_from_bits", mask_from_bits(static_cast<uint32_t>(in.ia[1]) & 0xffff)),
    PROBE_MASK("mask_and", mask_and(cmp_lt(A, B), cmp_lt(B, C))),
    PROBE_MASK("mask_or", mask_or(cmp_lt(A, B), cmp_lt(B, C))),
    PROBE_MASK("mask_not", mask_not(cmp_lt(A, B))),
    PROBE("any", out.i[0] = any(cmp_eq(A, B)); out.i[1] = any(mask_first(in.n))),
    PROBE_F32("even_lanes", even_lanes(A, B)),
    PROBE_F32("odd_lanes", odd_lanes(A, B)),
    PROBE_F32("interleave_low", interleave_low(A, B)),
    PROBE_F32("interleave_high", interleave_high(A, B)),
    PROBE("reduce_add", out.f[0] = reduce_add(A)),
    PROBE("reduce_max", out.f[0] = reduce_max(A)),
    PROBE("reduce_min", out.f[0] = reduce_min(A)),

    PROBE_I32("izero", iadd(izero(), IA)),
    PROBE_I32("iset1", iset1(in.ia[3])),
    PROBE_I32("iota", iadd(iota(), IA)),
    PROBE_I32("iadd", iadd(IA, IB)),
    PROBE_I32("isub", isub(IA, IB)),
    PROBE_I32("imul", imul(IA, IB)),
    PROBE_I32("imin", imin(IA, IB)),
    PROBE_I32("imax", imax(IA, IB)),
    PROBE_I32("iand", iand(IA, IB)),
    PROBE_I32("ior", ior(IA, IB)),
    PROBE_I32("ixor", ixor(IA, IB)),
    PROBE_I32("shift_left", shift_left(IA, in.ib[0] & 31)),
    PROBE_I32("shift_right_logical", shift_right_logical(IA, in.ib[0] & 31)),
    PROBE_I32("shift_right_arith", shift_right_arith(IA, in.ib[0] & 31)),
    PROBE_I32("shift_left by 7", shift_left<7>(IA)),
    PROBE_I32("shift_right_logical by 7", shift_right_logical<7>(IA)),
    PROBE_I32("shift_right_arith by 7", shift_right_arith<7>(IA)),
    PROBE_MASK("icmp_eq", icmp_eq(IA, IB)),
    PROBE_MASK("icmp_gt", icmp_gt(IA, IB)),
    PROBE_MASK("icmp_lt", icmp_lt(IA, IB)),
    PROBE_I32("iselect", iselect(icmp_gt(IA, IB), IB, IA)),
    PROBE_I32("load_u8x16", load_u8x16(in.bytes)),
    PROBE_I32("load_i8x16", load_i8x16(reinterpret_cast<const int8_t*>(in.bytes))),
    PROBE_I32("load_u16x16", load_u16x16(in.halves)),
    PROBE_I32("load_i16x16", load_i16x16(reinterpret_cast<const int16_t*>(in.halves))),
    PROBE("store_i8x16", store_i8x16(reinterpret_cast<int8_t*>(out.i), IA)),
    PROBE("store_i16x16", store_i16x16(reinterpret_cast<int16_t*>(out.h), IA)),
    PROBE("ireduce_add", out.i[0] = ireduce_add(IA)),

    PROBE_I32("bits_of", bits_of(A)),
    PROBE_F32("f32_from_bits", f32_from_bits(IA)),
    PROBE_F32("to_f32", to_f32(IA)),
    PROBE_I32("round_to_i32", round_to_i32(A)),
    PROBE_F32("scale_by_pow2", scale_by_pow2(A, IA)),
    PROBE_F32("scale_by_pow2, small", scale_by_pow2(A, shift_right_arith<23>(IA))),
    PROBE_F32("scale_by_pow2, float", scale_by_pow2(A, round_even(B))),
    PROBE_F32("load_f16", load_f16(in.halves)),
    PROBE_F32("load_f16_partial", load_f16_partial(in.edge_u16, in.n)),
    PROBE("store_f16", store_f16(out.h, A)),
    PROBE("store_f16_partial", store_f16_partial(out.edge_u16, A, in.n)),
    PROBE_F32("load_bf16", load_bf16(in.halves)),
    PROBE_F32("load_bf16_partial", load_bf16_partial(in.edge_u16, in.n)),
    PROBE("store_bf16", store_bf16(out.h, A)),
    PROBE("store_bf16_partial", store_bf16_partial(out.edge_u16, A, in.n)),

    PROBE("bload", bstore(out.i, BYTES)),
    PROBE("bset1", bstore(out.i, bset1(in.bytes[5]))),
    PROBE("band", bstore(out.i, band(BYTES, MORE))),
    PROBE("bor", bstore(out.i, bor(BYTES, MORE))),
    PROBE("bxor", bstore(out.i, bxor(BYTES, MORE))),
    PROBE("badd", bstore(out.i, badd(BYTES, MORE))),
    PROBE("bsub", bstore(out.i, bsub(BYTES, MORE))),
    PROBE("bshift_right16", bstore(out.i, bshift_right16(BYTES, in.ia[0] & 15))),
    PROBE("bshift_left16", bstore(out.i, bshift_left16(BYTES, in.ia[0] & 15))),
    PROBE("bshift_right16 by 4", bstore(out.i, bshift_right16<4>(BYTES))),
    PROBE("bshift_left16 by 4", bstore(out.i, bshift_left16<4>(BYTES))),
    PROBE_I32("as_i32", as_i32(BYTES)),
    PROBE("as_bytes", bstore(out.i, as_bytes(IA))),
    PROBE("lookup16", bstore(out.i, lookup16(band(BYTES, bset1(15)), in.table))),
    PROBE_I32("broadcast_s8x4", broadcast_s8x4(in.a4)),
    PROBE_I32("broadcast_s16x2", broadcast_s16x2(in.a2)),
    PROBE_I32("dot_u8s8", dot_u8s8(IA, BYTES, as_i32(MORE))),
    PROBE_I32("dot_u8s8, broadcast", dot_u8s8(IA, BYTES, in.a4)),
    PROBE_I32("dot_u7s8", dot_u7s8(IA, band(BYTES, bset1(127)), as_i32(MORE))),
    PROBE_I32("dot_u7s8, broadcast", dot_u7s8(IA, band(BYTES, bset1(127)), in.a4)),
    PROBE_I32("dot_s16s16_pair", dot_s16s16_pair(IA, BYTES, as_i32(MORE))),
    PROBE_I32("dot_s16s16_pair, broadcast", dot_s16s16_pair(IA, BYTES, in.a2)),

    PROBE_F32("exp", exp(A)),
    PROBE_F32("log", log(A)),
    PROBE_F32("log1p", log1p(A)),
    PROBE_F32("softplus", softplus(A)),
    PROBE_F32("pow", pow(A, B)),
    PROBE_F32("tanh", tanh(A)),
    PROBE_F32("sigmoid", sigmoid(A)),
    PROBE_F32("silu", silu(A)),
    PROBE_F32("gelu_tanh", gelu_tanh(A)),
    PROBE_F32("gelu_erf", gelu_erf(A)),
    PROBE_F32("relu", relu(A)),
    PROBE_F32("sin", sin_cos(A).sin),
    PROBE_F32("cos", sin_cos(A).cos),
};

}  // namespace

test::ProbeTable vec_probes() { return {kProbes, sizeof kProbes / sizeof kProbes[0]}; }

}  // namespace quire::kernels::QUIRE_ISA
