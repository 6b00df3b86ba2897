// ProgramBuilder: how a model's `build` writes its forward pass down.
//
// Each call appends one op, checks shapes, and returns the value it makes. Tensors are named as in the model
// file and checked for presence and shape. The first problem with the file is remembered and every later call
// is harmless, so that a model reads as a straight list of steps; finish() then reports it. Wrong use by the
// model's own code (mismatched columns) is a programmer error and aborts. Used by one thread; owns the
// program until finish().
//
//   Value x = b.embed("token_embd.weight", n_vocab, d_model);
//   Value h = b.rms_norm(x, "blk.0.attn_norm.weight", eps);
//   Value q = b.linear(h, "blk.0.attn_q.weight", n_head * d_head);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graph/program.h"

namespace quire::graph {

struct AttentionParams {
  int32_t n_head = 0, n_head_kv = 0, d_k = 0, d_v = 0;
  float scale = 1;         // of q . k
  float softcap = 0;       // 0 = none
  int32_t window = 0;      // 0 = none
  std::string sinks = {};  // tensor name, empty = none
};

// How rows are routed to experts; the rules are those of kernels::RouteArgs.
struct RouteParams {
  int64_t n_expert = 0, n_used = 0;
  kernels::Gating gating = kernels::Gating::kSoftmax;
  kernels::GateWeights normalise = kernels::GateWeights::kPlain;
  float scale = 1;
  int64_t n_groups = 1, n_groups_used = 1;
  std::string selection_bias = {};  // tensor name, empty = none
};

// Where the rows of a value go, and with what weights their experts' answers come back.
struct Routing {
  Value order, weights;
  int64_t n_expert = 0, n_used = 0;
};

// A linear layer of each expert: matrices [n_expert, n, k] in one tensor. A tensor of tensor_rows > n rows an
// expert holds several layers; this one is rows [first_row, first_row + n).
struct ExpertLinearParams {
  std::string weight;
  std::string bias = {};                          // tensor [n_expert, n], empty = none
  int64_t n = 0, first_row = 0, tensor_rows = 0;  // tensor_rows 0 = n
};

// A linear layer of each head, whose matrices [n, k] lie in one tensor. A tensor of tensor_rows > n rows a
// head holds several; this one is rows [first_row, first_row + n).
struct HeadLinearParams {
  std::string weight;
  int64_t n_heads = 0;
  int64_t n = 0, first_row = 0, tensor_rows = 0;  // tensor_rows 0 = n
};

// A state layer of the program.
struct StateId {
  int32_t id = -1;
};

struct ConvParams {
  std::string weight;
  std::string bias = {};  // empty = none
  int64_t n_taps = 0;
  kernels::ConvActivation activation = kernels::ConvActivation::kSilu;
};
struct ScanParams {
  std::string a, d;  // tensors of n_head values
  int64_t n_head = 0, n_group = 0;
};
struct ChannelScanParams {
  std::string a, d;  // tensors [n_channels, d_state] and [n_channels]
};
struct DeltaInputs {
  Value q, k, v, beta, dt;
};
struct DeltaParams {
  std::string a;  // tensor of n_head values
  int64_t n_head = 0, n_key_head = 0;
  kernels::KeyHeads key_heads = kernels::KeyHeads::kBlocked;
  float scale = 1;
};

class ProgramBuilder {
 public:
  // `source` must outlive the builder and the program's weight views.
  ProgramBuilder(const WeightSource& source, kernels::ActivationSetting activations)
      : source_(source), activations_(activations) {}

  // Whether the file has a tensor of this name (for optional ones).
  bool has(std::string_view tensor) const { return source_.find(tensor) != nullptr; }
  // The n values of a small tensor that building itself needs (rope factors). Errors: kCorrupt (missing,
  // misshapen).
  Result<std::vector<float>> read_values(const std::string& tensor, int64_t n) const;
  // Records a problem found by the model itself; the first one wins.
  void fail(Error error);
  bool failed() const { return error_.has_value(); }

  // Rows of the table for the step's token ids, times scale: [tokens, d]. The table is [n_vocab, d].
  Value embed(const std::string& table, int64_t n_vocab, int64_t d, float scale = 1);
  // Over each row (n_groups = 1) or each of n_groups equal parts of it, all with the same weight
  // [cols / n_groups].
  Value rms_norm(Value x, const std::string& weight, float eps, int64_t n_groups = 1);
  // The same with weights [n_groups, cols / n_groups].
  Value rms_norm_by_group(Value x, const std::string& weight, float eps, int64_t n_groups);
  Value rms_norm_plain(Value x, float eps, int64_t n_groups = 1);  // without weight
  Value l2_norm(Value x, float eps, int64_t n_groups);             // over each group
  // `bias` may be empty.
  Value layer_norm(Value x, const std::string& weight, const std::string& bias, float eps);
  // a + b_scale * b.
  Value add(Value a, Value b, float b_scale = 1);
  Value add_bias(Value x, const std::string& bias);
  Value scale(Value x, float factor);
  Value softcap(Value x, float cap);
  Value activation(Value x, kernels::Activation f);
  Value gated_activation(Value gate, Value up, kernels::Activation f);
  Value clamped_swiglu(Value gate, Value up, const ClampedSwigluAttrs& attrs);
  // x * sigmoid(gate), gate [rows, 1].
  Value gate_rows(Value x, Value gate);
  // How finely the linear layers from here on see quantised activations (docs/numerics.md, "Two planes").
  void set_planes(kernels::ActivationPlanes planes) { planes_ = planes; }
  kernels::ActivationPlanes planes() const { return planes_; }

  // w x with w [n, cols of x]; activations are quantised as the weight's type asks, once per (value, type).
  Value linear(Value x, const std::string& weight, int64_t n);
  // The same, then + bias when the file has the tensor `bias`.
  Value linear_bias(Value x, const std::string& weight, const std::string& bias, int64_t n);

  // Mixture of experts: route(), then expert_linear() and gated activations on values of pairs, then
  // combine(). logits [rows, n_expert].
  Routing route(Value logits, const RouteParams& params);
  // For each row and each expert it goes to, that expert's layer: of the row itself, or of the pair's row
  // when x is a value of pairs. [rows, k] or pairs of [k] -> pairs of [n].
  Value expert_linear(Value x, const Routing& routing, const ExpertLinearParams& params);
  // Each row's answers times their weights, added in the order of routing: pairs of [n] -> [rows, n].
  Value combine(Value y, const Routing& routing);

  // Columns [offset, offset + cols) of x, without a copy.
  Value slice(Value x, int64_t offset, int64_t cols);
  // Columns [first, first + n) of each of n_heads heads: [rows, n_heads * n].
  Value slice_heads(Value x, int64_t n_heads, int64_t first, int64_t n);
  // The columns of each head of a, then those of the same head of b.
  Value join_heads(Value a, Value b, int64_t n_heads);
  // w_h x_h for each head h: [rows, n_heads * k] -> [rows, n_heads * n].
  Value head_linear(Value x, const HeadLinearParams& params);
  // The same with the transpose of those rows, which are k then, and n columns.
  Value head_linear_transposed(Value x, const HeadLinearParams& params);
  // Rotates the first 2 * inv_freq.size() values of each of n_heads heads.
  Value rope(Value x, const RopeSpec& spec, int64_t n_heads, kernels::RopePairs pairs);
  // Stores k, v and attends: q [tokens, n_head * d_k] -> [tokens, n_head * d_v]. Each call is one KvLayer.
  Value attention(Value q, Value k, Value v, const AttentionParams& params);
  // Stores `rows` [tokens, d_k], which all heads read as keys and, up to d_v, as values; n_head_kv is 1.
  Value latent_attention(Value q, Value rows, const AttentionParams& params);

  // --- Recurrences (builder_recurrent.cc; kernels/recurrent.h defines them). A layer that remembers has one
  // state layer, which its convolution and its scan share. ---
  StateId state_layer();
  // weight: a tensor of cols rows of n_taps; bias may be empty. [tokens, cols] -> the same.
  Value causal_conv(Value x, StateId state, const ConvParams& params);
  // x [tokens, n_head * d], dt [tokens, n_head], b and c [tokens, n_group * d_state] -> [tokens, n_head * d].
  Value scan(Value x, Value dt, Value b, Value c, StateId state, const ScanParams& params);
  // x, dt [tokens, n_channels], b and c [tokens, d_state] -> [tokens, n_channels].
  Value channel_scan(Value x, Value dt, Value b, Value c, StateId state, const ChannelScanParams& params);
  // q, k [tokens, n_key_head * d_k], v [tokens, n_head * d_v], beta, dt [tokens, n_head]
  // -> [tokens, n_head * d_v].
  Value delta(const DeltaInputs& inputs, StateId state, const DeltaParams& params);

  // Keeps the rows whose logits are wanted: [tokens, d] -> [outputs, d].
  Value select_outputs(Value x);

  // A value that stays readable after the step (hidden rows for tests and draft heads).
  void tap(Value x, std::string name);
  // Names what the vocabulary's layer takes: Program::state.
  void set_state(Value x) { program_.state = x; }

  // The label that following ops carry, e.g. "blk.3".
  void set_label(std::string label) { label_ = std::move(label); }

  // Ends building: `logits` is the program's result.
  Result<Program> finish(Value logits) &&;

 private:
  Value new_value(Rows rows, int64_t cols, DataType type = DataType::kF32);
  Value new_pairs(Rows rows, int64_t n_used, int64_t cols, DataType type = DataType::kF32);
  Value new_value_like(Value x);
  Value emit(OpAttrs attrs, std::vector<Value> inputs, std::vector<WeightId> weights, Value output,
             std::string_view what);
  Value unary(OpAttrs attrs, Value x, std::vector<WeightId> weights, std::string_view what);
  WeightId declare(const std::string& name, WeightRole role, int64_t cols, int64_t rows);
  WeightId declare_values(const std::string& name, int64_t n);
  WeightId declare_matrices(const std::string& name, int64_t cols, int64_t rows, int64_t n_matrices,
                            int64_t first_row, int64_t n);
  WeightId declare_heads(const HeadLinearParams& params, int64_t cols, int64_t n_rows, bool transposed);
  Value append_linear(Value x, WeightId weight, int64_t n_heads, int64_t cols);
  Value append_attention(std::vector<Value> stored, Value q, const KvLayer& layer,
                         const AttentionParams& params);
  WeightDecl checked_decl(const std::string& name, WeightRole role, int64_t cols, int64_t rows,
                          int64_t n_matrices);
  WeightId add_decl(WeightDecl decl);
  Value quantized(Value x, int64_t n_heads, DataType type);
  Value gathered(Value x, const Routing& routing, DataType type);
  const ValueInfo& info(Value x) const { return program_.info(x); }

  const WeightSource& source_;
  kernels::ActivationSetting activations_;
  Program program_;
  std::optional<Error> error_;
  std::string label_;
  kernels::ActivationPlanes planes_ = kernels::ActivationPlanes::kOne;
  std::map<std::tuple<int32_t, int64_t, DataType>, Value> quantized_;          // by value and heads
  std::map<std::tuple<int32_t, int32_t, DataType>, Value> gathered_;           // by value and order
  std::map<std::tuple<std::string, WeightRole, int64_t>, WeightId> declared_;  // the number: the first row
  std::vector<Value> rope_tables_;                                             // by rope spec
};

}  // namespace quire::graph
