#include "graph/op_cost.h"

#include <algorithm>
#include <cmath>

namespace quire::graph {
namespace {

int64_t n_tokens(const StepShape& shape) {
  int64_t n = 0;
  for (const SpanShape& span : shape.spans) n += span.n_tokens;
  return n;
}

double row_bytes(const ValueInfo& info) {
  // int8 rows: a byte each, and a scale and a sum per 32.
  if (info.type == DataType::kExpertOrder) return static_cast<double>(info.n_used) * 8;
  return static_cast<double>(planes(info.type) * info.cols) * (is_quantized(info.type) ? 1.25 : 4.0);
}

// Positions seen by all queries of one span together: query p sees min(p + 1, window) of them.
double visible_positions(const SpanShape& span, int64_t window) {
  const auto sum_to = [](int64_t n) { return static_cast<double>(n) * static_cast<double>(n + 1) / 2; };
  const int64_t end = span.start + span.n_tokens;
  if (window == 0) return sum_to(end) - sum_to(span.start);
  const int64_t growing_end = std::clamp(window, span.start, end);  // queries below it see all before them
  return sum_to(growing_end) - sum_to(span.start) +
         static_cast<double>(end - growing_end) * static_cast<double>(window);
}

// Positions that at least one query of the span sees.
double touched_positions(const SpanShape& span, int64_t window) {
  const int64_t begin = window == 0 ? 0 : std::max<int64_t>(0, span.start + 1 - window);
  return static_cast<double>(span.start + span.n_tokens - begin);
}

OpCost attention_cost(const Program& program, const AttentionAttrs& attrs, const StepShape& shape) {
  const KvLayer& layer = program.kv_layers[static_cast<size_t>(attrs.kv_layer)];
  const double d = layer.d_k + layer.d_v;
  const double stored = layer.form == KvForm::kLatent ? layer.d_k : layer.n_head_kv * d;  // of a position
  OpCost cost;
  for (const SpanShape& span : shape.spans) {
    if (span.n_tokens == 0) continue;
    cost.fma_operations += 2 * visible_positions(span, attrs.window) * attrs.n_head * d;
    cost.memory_bytes += touched_positions(span, attrs.window) * stored * shape.kv_element_bytes;
  }
  return cost;
}

// Recurrences: a state element is multiplied and added to a few times a row, whatever the kind; the state of
// each span is read and written once.
OpCost recurrent_cost(const Program& program, const Op& op, const StepShape& shape) {
  double floats = 0, fmas = 0;  // of one state, of one row
  if (const auto* conv = std::get_if<CausalConvAttrs>(&op.attrs)) {
    floats = static_cast<double>(program.state_layers[static_cast<size_t>(conv->state_layer)].tail);
    fmas = static_cast<double>(conv->n_taps * program.info(op.inputs[0]).cols);
  } else if (const auto* scan = std::get_if<ScanAttrs>(&op.attrs)) {
    floats = static_cast<double>(program.state_layers[static_cast<size_t>(scan->state_layer)].state);
    fmas = 2 * floats;
  } else if (const auto* channels = std::get_if<ChannelScanAttrs>(&op.attrs)) {
    floats = static_cast<double>(program.state_layers[static_cast<size_t>(channels->state_layer)].state);
    fmas = 2 * floats;
  } else {
    const auto& delta = std::get<DeltaAttrs>(op.attrs);
    floats = static_cast<double>(program.state_layers[static_cast<size_t>(delta.state_layer)].state);
    fmas = 3 * floats;
  }
  return {.fma_operations = 2 * fmas * static_cast<double>(n_tokens(shape)),
          .memory_bytes = 2 * floats * sizeof(float) * static_cast<double>(shape.spans.size())};
}

// m rows with a matrix of `decl`, of whose matrices n_active are read.
OpCost linear_cost(const WeightDecl& decl, DataType input, double m, double n_active) {
  OpCost cost;
  (is_quantized(input) ? cost.dot_operations : cost.fma_operations) =
      2 * m * static_cast<double>(planes(input)) * static_cast<double>(decl.n()) *
      static_cast<double>(decl.k());
  cost.memory_bytes = n_active * static_cast<double>(decl.packed_bytes());
  return cost;
}

// Experts that m rows go to when each row's n_used are any of n_expert.
double expected_experts(double m, double n_used, double n_expert) {
  return n_expert * (1 - std::pow(1 - n_used / n_expert, m));
}

}  // namespace

OpCost& OpCost::operator+=(const OpCost& other) {
  dot_operations += other.dot_operations;
  fma_operations += other.fma_operations;
  memory_bytes += other.memory_bytes;
  row_bytes += other.row_bytes;
  return *this;
}

OpCost op_cost(const Program& program, const Op& op, const StepShape& shape) {
  const auto rows_of = [&](Value value) {
    return static_cast<double>(program.info(value).rows == Rows::kTokens ? n_tokens(shape) : shape.n_outputs);
  };
  OpCost cost;
  if (const auto* attention = std::get_if<AttentionAttrs>(&op.attrs)) {
    cost = attention_cost(program, *attention, shape);
  } else if (is_recurrent(op)) {
    cost = recurrent_cost(program, op, shape);
  } else if (std::holds_alternative<LinearAttrs>(op.attrs)) {
    const double m = rows_of(op.outputs[0]);
    if (m == 0) return {};
    for (size_t i = 0; i < op.weights.size(); ++i) {
      const WeightDecl& decl = program.weights[static_cast<size_t>(op.weights[i].id)];
      // Of a matrix a head each row meets all.
      const auto n_matrices = static_cast<double>(decl.n_matrices);
      cost += linear_cost(decl, program.info(op.inputs[i]).type, m * n_matrices, n_matrices);
    }
  } else if (std::holds_alternative<ExpertLinearAttrs>(op.attrs)) {
    const double m = rows_of(op.outputs[0]);
    for (size_t i = 0; i < op.weights.size(); i += 2) {
      const WeightDecl& decl = program.weights[static_cast<size_t>(op.weights[i].id)];
      const ValueInfo& input = program.info(op.inputs[i]);
      const auto n_used = static_cast<double>(input.n_used);
      cost += linear_cost(decl, input.type, m * n_used,
                          expected_experts(m, n_used, static_cast<double>(decl.n_matrices)));
    }
  } else if (std::holds_alternative<EmbedAttrs>(op.attrs)) {
    const TensorView& table = program.weights[static_cast<size_t>(op.weights[0].id)].view;
    cost.memory_bytes = rows_of(op.outputs[0]) * static_cast<double>(table.row_stride());
  }
  for (Value value : op.inputs) cost.row_bytes += rows_of(value) * row_bytes(program.info(value));
  for (Value value : op.outputs) cost.row_bytes += rows_of(value) * row_bytes(program.info(value));
  return cost;
}

OpCost step_cost(const Program& program, const StepShape& shape) {
  OpCost cost;
  for (const Op& op : program.ops) cost += op_cost(program, op, shape);
  return cost;
}

}  // namespace quire::graph
