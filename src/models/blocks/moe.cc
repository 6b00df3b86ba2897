#include "models/blocks/moe.h"

#include "models/blocks/ffn.h"

namespace quire {

using graph::ExpertLinearParams;
using graph::Value;

namespace {

constexpr int64_t kMaxExpertWidth = int64_t{1} << 22;

Result<kernels::Gating> gating_function(const Keys& keys, kernels::Gating fallback) {
  constexpr std::string_view kKey = "expert_gating_func";
  QUIRE_ASSIGN_OR_RETURN(const int64_t number, keys.integer_or(kKey, 0, 255, 0));
  switch (number) {
    case 0:
      return fallback;
    case 1:
      return kernels::Gating::kSoftmax;
    case 2:
      return kernels::Gating::kSigmoid;
    case 3:
      return kernels::Gating::kSoftmaxOfSelected;
    default:
      return make_error(ErrorCode::kUnsupported,
                        "{} is {}, expected 1 (softmax), 2 (sigmoid) or 3 (softmax of the selected)",
                        keys.full(kKey), number);
  }
}

struct GateUp {
  Value gate, up;
};

// The two projections of every expert, from a tensor each or from one.
GateUp expert_gate_up(graph::ProgramBuilder& b, const std::string& layer, Value x,
                      const graph::Routing& routing, int64_t n_ff) {
  const auto bias_of = [&](const std::string& tensor) {
    return b.has(tensor + ".bias") ? tensor + ".bias" : std::string();
  };
  const std::string both = layer + ".ffn_gate_up_exps";
  if (b.has(both + ".weight")) {
    ExpertLinearParams half{.weight = both + ".weight", .n = n_ff, .tensor_rows = 2 * n_ff};
    const Value gate = b.expert_linear(x, routing, half);
    half.first_row = n_ff;
    return {gate, b.expert_linear(x, routing, half)};
  }
  const auto project = [&](const std::string& tensor) {
    return b.expert_linear(x, routing, {.weight = tensor + ".weight", .bias = bias_of(tensor), .n = n_ff});
  };
  const Value gate = project(layer + ".ffn_gate_exps");
  return {gate, project(layer + ".ffn_up_exps")};
}

Value shared_expert(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                    int64_t n_ff) {
  const Value y = gated_ffn(b, layer, x, d_model, n_ff, kernels::Activation::kSilu, "_shexp");
  const std::string gate = layer + ".ffn_gate_inp_shexp.weight";
  return b.has(gate) ? b.gate_rows(y, b.linear(x, gate, 1)) : y;
}

}  // namespace

Result<MoeSpec> read_moe(const Keys& keys, const DecoderParams& p, const MoeDefaults& defaults) {
  MoeSpec spec;
  graph::RouteParams& route = spec.route;
  QUIRE_ASSIGN_OR_RETURN(route.n_expert, keys.integer("expert_count", 1, kernels::kMaxExperts));
  QUIRE_ASSIGN_OR_RETURN(route.n_used, keys.integer("expert_used_count", 1, route.n_expert));
  QUIRE_ASSIGN_OR_RETURN(spec.n_ff,
                         keys.integer_or("expert_feed_forward_length", 1, kMaxExpertWidth, p.n_ff));
  QUIRE_ASSIGN_OR_RETURN(spec.n_ff_shared,
                         keys.integer_or("expert_shared_feed_forward_length", 0, kMaxExpertWidth, 0));
  QUIRE_ASSIGN_OR_RETURN(spec.n_dense, keys.integer_or("leading_dense_block_count", 0, p.n_layer, 0));
  QUIRE_ASSIGN_OR_RETURN(route.gating, gating_function(keys, defaults.gating));
  route.normalise = defaults.normalise;
  if (keys.contains("expert_weights_norm")) {
    QUIRE_ASSIGN_OR_RETURN(const bool to_one, keys.get<bool>("expert_weights_norm"));
    route.normalise = to_one ? kernels::GateWeights::kSumToOne : kernels::GateWeights::kPlain;
  }
  QUIRE_ASSIGN_OR_RETURN(const float scale, keys.number_or("expert_weights_scale", NumberRange::kFinite, 1));
  route.scale = scale == 0 ? 1 : scale;  // what files say that mean none
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_groups, keys.integer_or("expert_group_count", 0, route.n_expert, 1));
  route.n_groups = std::max<int64_t>(1, n_groups);
  QUIRE_ASSIGN_OR_RETURN(const int64_t n_groups_used,
                         keys.integer_or("expert_group_used_count", 0, route.n_groups, route.n_groups));
  route.n_groups_used = n_groups_used == 0 ? route.n_groups : n_groups_used;
  if (route.n_expert % route.n_groups != 0) {
    return make_error(ErrorCode::kCorrupt, "{} is {}, expected a multiple of {} = {}",
                      keys.full("expert_count"), route.n_expert, keys.full("expert_group_count"),
                      route.n_groups);
  }
  return spec;
}

graph::Value moe_ffn(graph::ProgramBuilder& b, const std::string& layer, Value x, int64_t d_model,
                     const MoeSpec& spec) {
  if (b.has(layer + ".ffn_gate.0.weight")) {
    b.fail(make_error(ErrorCode::kUnsupported,
                      "the file has a tensor for each expert ({}.ffn_gate.0.weight), as before April 2024; "
                      "convert the model again",
                      layer));
  }
  graph::RouteParams route = spec.route;
  if (b.has(layer + ".exp_probs_b.bias")) route.selection_bias = layer + ".exp_probs_b.bias";
  const Value logits =
      b.linear_bias(x, layer + ".ffn_gate_inp.weight", layer + ".ffn_gate_inp.bias", route.n_expert);
  const graph::Routing routing = b.route(logits, route);

  const auto [gate, up] = expert_gate_up(b, layer, x, routing, spec.n_ff);
  const Value h = spec.activation == ExpertActivation::kSwiglu
                      ? b.gated_activation(gate, up, kernels::Activation::kSilu)
                      : b.clamped_swiglu(gate, up, {.limit = 7, .alpha = 1.702f, .up_offset = 1});
  const std::string down = layer + ".ffn_down_exps";
  const Value answers = b.expert_linear(
      h, routing,
      {.weight = down + ".weight", .bias = b.has(down + ".bias") ? down + ".bias" : "", .n = d_model});
  const Value y = b.combine(answers, routing);
  return spec.n_ff_shared > 0 ? b.add(y, shared_expert(b, layer, x, d_model, spec.n_ff_shared)) : y;
}

}  // namespace quire
