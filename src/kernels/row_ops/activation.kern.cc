// Activation functions, alone and as gates.
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

}  // namespace

ActivationOps activation_ops() {
  return {.activation = activation_rows, .gated_activation = gated_activation_rows};
}

}  // namespace quire::kernels::QUIRE_ISA
