// Activation functions, alone, as gates of another row, and of whole rows.
#include "kernels/row_ops/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

// One type per function, so that each loop below is compiled for its own.
struct Silu {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return silu(x); }
};
struct GeluTanh {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return gelu_tanh(x); }
};
struct GeluErf {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return gelu_erf(x); }
};
struct Relu {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return relu(x); }
};
struct ReluSquared {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return mul(relu(x), relu(x)); }
};
struct Sigmoid {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return sigmoid(x); }
};
struct Tanh {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return tanh(x); }
};

struct Identity {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return x; }
};
struct Softplus {
  QUIRE_VEC_MEMBER F32 operator()(F32 x) const { return softplus(x); }
};

// Calls body(f) with the function of `activation`.
template <typename Body>
QUIRE_VEC_FN void with_function(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::kSilu:
      return body(Silu{});
    case Activation::kGeluTanh:
      return body(GeluTanh{});
    case Activation::kGeluErf:
      return body(GeluErf{});
    case Activation::kRelu:
      return body(Relu{});
    case Activation::kReluSquared:
      return body(ReluSquared{});
    case Activation::kSigmoid:
      return body(Sigmoid{});
    case Activation::kTanh:
      return body(Tanh{});
    case Activation::kSoftplus:
      return body(Softplus{});
    case Activation::kIdentity:
      return body(Identity{});
  }
}

void activation_rows(const ActivationArgs& args, int64_t row_begin, int64_t row_end) {
  with_function(args.activation, [&](auto f) {
    for (int64_t row = row_begin; row < row_end; ++row) {
      const float* x = args.x + row * args.ld_x;
      float* y = args.y + row * args.ld_y;
      for_columns(args.n_cols, [&](int64_t i, auto io) { io.store(y + i, f(io.load(x + i))); });
    }
  });
}

void gated_activation_rows(const GatedActivationArgs& args, int64_t row_begin, int64_t row_end) {
  with_function(args.activation, [&](auto f) {
    for (int64_t row = row_begin; row < row_end; ++row) {
      const float* gate = args.gate + row * args.ld_gate;
      const float* up = args.up + row * args.ld_up;
      float* y = args.y + row * args.ld_y;
      for_columns(args.n_cols,
                  [&](int64_t i, auto io) { io.store(y + i, mul(f(io.load(gate + i)), io.load(up + i))); });
    }
  });
}

void clamped_swiglu_rows(const ClampedSwigluArgs& args, int64_t row_begin, int64_t row_end) {
  const F32 limit = set1(args.limit);
  const F32 alpha = set1(args.alpha);
  const F32 up_offset = set1(args.up_offset);
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* gate = args.gate + row * args.ld_gate;
    const float* up = args.up + row * args.ld_up;
    float* y = args.y + row * args.ld_y;
    for_columns(args.n_cols, [&](int64_t i, auto io) {
      const F32 g = min(limit, io.load(gate + i));  // constants first: NaN passes through
      const F32 u = max(neg(limit), min(limit, io.load(up + i)));
      const F32 swish = div(g, add(set1(1.0f), exp(neg(mul(alpha, g)))));
      io.store(y + i, mul(swish, add(u, up_offset)));
    });
  }
}

void gate_rows(const GateRowsArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const float* x = args.x + row * args.ld_x;
    float* y = args.y + row * args.ld_y;
    const F32 gate = sigmoid(set1(args.gate[row * args.ld_gate]));
    for_columns(args.n_cols, [&](int64_t i, auto io) { io.store(y + i, mul(io.load(x + i), gate)); });
  }
}

}  // namespace

ActivationOps activation_ops() {
  return {.activation = activation_rows,
          .gated_activation = gated_activation_rows,
          .clamped_swiglu = clamped_swiglu_rows,
          .gate_rows = gate_rows};
}

}  // namespace quire::kernels::QUIRE_ISA
