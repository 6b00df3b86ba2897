// The part of ProgramBuilder that mixtures of experts use.
#include "base/check.h"
#include "graph/builder.h"

namespace quire::graph {

// A value of pairs, of `cols` columns for all pairs of a row together; an ordinary value when n_used is 0.
Value ProgramBuilder::new_pairs(Rows rows, int64_t n_used, int64_t cols, DataType type) {
  const Value y = new_value(rows, cols, type);
  program_.values[static_cast<size_t>(y.id)].n_used = n_used;
  return y;
}

// Rows [first_row, first_row + n) of each of n_matrices matrices [rows, cols] in one tensor.
WeightId ProgramBuilder::declare_matrices(const std::string& name, int64_t cols, int64_t rows,
                                          int64_t n_matrices, int64_t first_row, int64_t n) {
  if (auto it = declared_.find({name, WeightRole::kLinear, first_row}); it != declared_.end())
    return it->second;
  WeightDecl decl = checked_decl(name, WeightRole::kLinear, cols, rows, n_matrices);
  decl.first_row = first_row;
  decl.skipped_rows = rows - n;
  return add_decl(std::move(decl));
}

Routing ProgramBuilder::route(Value logits, const RouteParams& p) {
  const ValueInfo in = info(logits);
  QUIRE_CHECK(in.type == DataType::kF32 && in.n_used == 0 && in.cols == p.n_expert);
  QUIRE_CHECK(p.n_used >= 1 && p.n_used <= p.n_expert && p.n_expert <= kernels::kMaxExperts);
  QUIRE_CHECK(p.n_groups >= 1 && p.n_expert % p.n_groups == 0 && p.n_groups_used >= 1 &&
              p.n_groups_used <= p.n_groups);
  WeightId bias;
  if (!p.selection_bias.empty()) bias = declare(p.selection_bias, WeightRole::kVector, p.n_expert, 1);
  const RouteAttrs attrs{.n_used = p.n_used,
                         .n_groups = p.n_groups,
                         .n_groups_used = p.n_groups_used,
                         .gating = p.gating,
                         .normalise = p.normalise,
                         .scale = p.scale};
  const Value ids = emit(attrs, {logits}, {bias}, new_value(in.rows, p.n_used, DataType::kI32), "route");
  const Value weights = new_value(in.rows, p.n_used);
  program_.ops.back().outputs.push_back(weights);
  const Value order = emit(SortPairsAttrs{}, {ids}, {},
                           new_pairs(in.rows, p.n_used, p.n_expert, DataType::kExpertOrder), "sort_pairs");
  return {.order = order, .weights = weights, .n_expert = p.n_expert, .n_used = p.n_used};
}

// The rows that expert_linear() multiplies: one for each pair, sorted by expert, in `type`.
Value ProgramBuilder::gathered(Value x, const Routing& routing, DataType type) {
  const ValueInfo in = info(x);
  if (in.n_used > 0 && type == DataType::kF32) return x;
  const auto key = std::make_tuple(x.id, routing.order.id, type);
  if (auto it = gathered_.find(key); it != gathered_.end()) return it->second;
  const int64_t cols = in.n_used > 0 ? in.cols : in.cols * routing.n_used;
  const OpAttrs attrs = in.n_used > 0 ? OpAttrs(QuantizePairsAttrs{}) : OpAttrs(GatherPairsAttrs{});
  const Value rows = emit(attrs, {x, routing.order}, {}, new_pairs(in.rows, routing.n_used, cols, type),
                          in.n_used > 0 ? "quantize_pairs" : "gather_pairs");
  gathered_.emplace(key, rows);
  return rows;
}

Value ProgramBuilder::expert_linear(Value x, const Routing& routing, const ExpertLinearParams& p) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.type == DataType::kF32 && (in.n_used == 0 || in.n_used == routing.n_used));
  const int64_t tensor_rows = p.tensor_rows > 0 ? p.tensor_rows : p.n;
  QUIRE_CHECK(p.n > 0 && p.first_row >= 0 && p.first_row + p.n <= tensor_rows);
  const WeightId matrix =
      declare_matrices(p.weight, memory_cols(in), tensor_rows, routing.n_expert, p.first_row, p.n);
  WeightId bias;
  if (!p.bias.empty()) bias = declare(p.bias, WeightRole::kVector, p.n, routing.n_expert);

  const bool f32 =
      program_.weights[static_cast<size_t>(matrix.id)].format->activation == kernels::ActivationKind::kF32;
  const bool two_planes = !f32 && planes_ == kernels::ActivationPlanes::kTwo;
  const DataType type = f32 ? DataType::kF32 : two_planes ? DataType::kQ8x32Pair : DataType::kQ8x32;
  const Value rows = gathered(x, routing, type);
  const int64_t cols = routing.n_used * p.n;
  const Value y = new_pairs(in.rows, routing.n_used, cols);
  // Labels follow the tensor: "blk.0.ffn_gate_exps.weight" -> "blk.0.ffn_gate_exps".
  const std::string saved = std::exchange(label_, "");
  emit(ExpertLinearAttrs{}, {rows, routing.order}, {matrix, bias}, y,
       std::string_view(p.weight).substr(0, p.weight.rfind(".weight")));
  label_ = saved;
  if (two_planes) {
    const Value both = new_pairs(in.rows, routing.n_used, cols, DataType::kF32Pair);
    program_.ops.back().outputs = {both, y};
  }
  return y;
}

Value ProgramBuilder::combine(Value y, const Routing& routing) {
  const ValueInfo in = info(y);
  QUIRE_CHECK(in.type == DataType::kF32 && in.n_used == routing.n_used);
  return emit(CombineAttrs{}, {y, routing.order, routing.weights}, {}, new_value(in.rows, memory_cols(in)),
              "combine");
}

}  // namespace quire::graph
