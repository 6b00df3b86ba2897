// Row operations: everything in a step that treats each row (token) by itself: norms, activations, rope,
// sums.
//
// All operate on f32 rows in memory owned by the caller. A call covers rows [row_begin, row_end); rows never
// influence each other, so any split over threads gives the same bits. `ld_*` is the distance between rows in
// elements. Outputs may alias inputs exactly (same pointer and stride) unless said otherwise, never partly.
// Row lengths are any n >= 1: tails are handled by select-loading zeros. Bits are those of the scalar ISA.
#pragma once

#include <cstdint>

namespace quire::kernels {

// y = x / sqrt(mean(x^2) + eps) * weight, over each of n_groups groups of n_cols consecutive values.
// One group per row is the plain norm; per-head norms use n_groups = heads with the same weight for each
// head (ld_weight 0).
struct RmsNormArgs {
  const float* x;
  int64_t ld_x;  // [n_rows, n_groups * n_cols]
  float* y;
  int64_t ld_y;
  const float* weight;  // [n_cols] of each group, null = no weight
  int64_t ld_weight;    // from one group's weights to the next; 0 = the same for all
  int64_t n_groups, n_cols;
  float eps;
};
// y = x / sqrt(sum(x^2) + eps), over each of n_groups groups of n_cols consecutive values.
struct L2NormArgs {
  const float* x;
  int64_t ld_x;  // [n_rows, n_groups * n_cols]
  float* y;
  int64_t ld_y;
  int64_t n_groups, n_cols;
  float eps;
};
// y = (x - mean) / sqrt(var + eps) * weight + bias.
struct LayerNormArgs {
  const float* x;
  int64_t ld_x;  // [n_rows, n_cols]
  float* y;
  int64_t ld_y;
  const float* weight;  // [n_cols], null = ones
  const float* bias;    // [n_cols], null = zeros
  int64_t n_cols;
  float eps;
};
// sum = a + b_scale * b (one fused multiply-add; plain add when b_scale == 1), then optionally
// y = rms_norm(sum). The bits equal AddArgs followed by RmsNormArgs. `sum` may alias `a`.
struct AddRmsNormArgs {
  const float* a;
  int64_t ld_a;
  const float* b;
  int64_t ld_b;
  float b_scale;
  float* sum;
  int64_t ld_sum;
  float* y;
  int64_t ld_y;
  const float* weight;  // [n_cols]
  int64_t n_cols;
  float eps;
};
struct AddArgs {  // y = a + b_scale * b
  const float* a;
  int64_t ld_a;
  const float* b;
  int64_t ld_b;
  float* y;
  int64_t ld_y;
  int64_t n_cols;
  float b_scale;
};
struct AddBiasArgs {  // y = x + bias
  const float* x;
  int64_t ld_x;
  const float* bias;  // [n_cols]
  float* y;
  int64_t ld_y;
  int64_t n_cols;
};
struct ScaleArgs {  // y = x * scale
  const float* x;
  int64_t ld_x;
  float* y;
  int64_t ld_y;
  int64_t n_cols;
  float scale;
};
struct SoftcapArgs {  // y = cap * tanh(x / cap); the division is x * (1 / cap) with 1 / cap rounded once
  const float* x;
  int64_t ld_x;
  float* y;
  int64_t ld_y;
  int64_t n_cols;
  float cap;
};
enum class Activation {
  kSilu,
  kGeluTanh,
  kGeluErf,
  kRelu,
  kReluSquared,
  kSigmoid,
  kTanh,
  kSoftplus,
  kIdentity
};
struct ActivationArgs {  // y = f(x)
  const float* x;
  int64_t ld_x;
  float* y;
  int64_t ld_y;
  int64_t n_cols;
  Activation activation;
};
struct GatedActivationArgs {  // y = f(gate) * up
  const float* gate;
  int64_t ld_gate;
  const float* up;
  int64_t ld_up;
  float* y;
  int64_t ld_y;
  int64_t n_cols;
  Activation activation;
};
// y = g * sigmoid(alpha * g) * (u + up_offset) with g = min(gate, limit) and u within [-limit, limit]; the
// quotient is g / (1 + e^-(alpha g)). A NaN stays one.
struct ClampedSwigluArgs {
  const float* gate;
  int64_t ld_gate;
  const float* up;
  int64_t ld_up;
  float* y;
  int64_t ld_y;
  int64_t n_cols;
  float limit, alpha, up_offset;
};
struct GateRowsArgs {  // y = x * sigmoid(gate), one gate a row
  const float* x;
  int64_t ld_x;
  const float* gate;
  int64_t ld_gate;  // [n_rows, 1]
  float* y;
  int64_t ld_y;
  int64_t n_cols;
};
// Rotation tables of one step: cos and sin of positions[row] * inv_freq[i], both times magnitude.
struct RopeTableArgs {
  const int32_t* positions;  // [n_rows], >= 0, angles good to 2^20 rad
  const float* inv_freq;     // [n_pairs]
  float magnitude;
  float* table;  // [n_rows, 2, n_pairs]: cos then sin
  int64_t n_pairs;
};
enum class RopePairs { kAdjacent /* NORM: (2i, 2i+1) */, kHalves /* NEOX: (i, i + n/2) */ };
// Rotates the first 2 * n_pairs values of each head; the rest is copied when y != x.
struct RopeArgs {
  const float* x;
  int64_t ld_x;  // [n_rows, n_heads, d_head]
  float* y;
  int64_t ld_y;
  const float* table;  // [n_rows, 2, n_pairs]
  int64_t n_heads, d_head, n_pairs;
  RopePairs pairs;
};
struct ArgmaxArgs {  // ids[row] = index of the largest value, the lowest one on ties; NaN never wins
  const float* x;
  int64_t ld_x;
  int32_t* ids;
  int64_t n_cols;
};
struct CopyRowsArgs {  // y[row] = x[index[row]]
  const float* x;
  int64_t ld_x;
  const int32_t* index;
  float* y;
  int64_t ld_y;
  int64_t n_cols;
};

// Routing of a mixture of experts: which n_used of n_expert experts a row goes to, and with what weights.
//   scores   gating of the logits: softmax over all, sigmoid, or the logits themselves (kSoftmaxOfSelected)
//   choice   by scores + selection_bias; with groups (of equal size), only experts of the n_groups_used
//   groups
//            whose two best choice values have the largest sums. Highest first, the lower id on ties; NaN
//            counts as -Inf, so that ids are valid and distinct whatever the logits
//   weights  scores of the chosen (kSoftmaxOfSelected: softmax over them); with kSumToOne divided by their
//   sum,
//            which is at least 2^-14; then times scale
enum class Gating { kSoftmax, kSigmoid, kSoftmaxOfSelected };
enum class GateWeights { kPlain, kSumToOne };
inline constexpr int64_t kMaxExperts = 1024;
struct RouteArgs {
  const float* logits;
  int64_t ld_logits;            // [n_rows, n_expert]
  const float* selection_bias;  // [n_expert], null = none
  int32_t* ids;                 // [n_rows, n_used]
  float* weights;               // [n_rows, n_used]
  int64_t n_expert, n_used;     // n_used <= n_expert <= kMaxExperts
  int64_t n_groups, n_groups_used;
  Gating gating;
  GateWeights normalise;
  float scale;
};
// out = sum over j of weights[row, j] * y[rows[row, j]], j ascending, each term fused to the sum, from +0.
struct CombineArgs {
  const float* y;
  int64_t ld_y;          // [rows of all pairs, n_cols]
  const int32_t* rows;   // [n_rows, n_used]
  const float* weights;  // [n_rows, n_used]
  int64_t n_used;
  float* out;  // not aliased with y
  int64_t ld_out;
  int64_t n_cols;
};

template <typename Args>
using RowFn = void (*)(const Args& args, int64_t row_begin, int64_t row_end);

// One ISA's implementations; kernel_table.h hands them out.
struct RowOps {
  RowFn<RmsNormArgs> rms_norm;
  RowFn<L2NormArgs> l2_norm;
  RowFn<LayerNormArgs> layer_norm;
  RowFn<AddRmsNormArgs> add_rms_norm;
  RowFn<AddArgs> add;
  RowFn<AddBiasArgs> add_bias;
  RowFn<ScaleArgs> scale;
  RowFn<SoftcapArgs> softcap;
  RowFn<ActivationArgs> activation;
  RowFn<GatedActivationArgs> gated_activation;
  RowFn<ClampedSwigluArgs> clamped_swiglu;
  RowFn<GateRowsArgs> gate_rows;
  RowFn<RopeTableArgs> rope_table;
  RowFn<RopeArgs> rope;
  RowFn<ArgmaxArgs> argmax;
  RowFn<CopyRowsArgs> copy_rows;
  RowFn<RouteArgs> route;
  RowFn<CombineArgs> combine;
};

}  // namespace quire::kernels
