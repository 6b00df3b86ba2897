#include "graph/schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "graph/expert_order.h"

namespace quire::graph {
namespace {

PhaseKind phase_kind(const Op& op) {
  if (std::holds_alternative<LinearAttrs>(op.attrs)) return PhaseKind::kLinear;
  if (std::holds_alternative<AttentionAttrs>(op.attrs)) return PhaseKind::kAttention;
  if (std::holds_alternative<SelectOutputsAttrs>(op.attrs)) return PhaseKind::kGather;
  if (std::holds_alternative<SortPairsAttrs>(op.attrs)) return PhaseKind::kSortPairs;
  if (std::holds_alternative<ExpertLinearAttrs>(op.attrs)) return PhaseKind::kExpertLinear;
  if (is_recurrent(op)) return PhaseKind::kRecurrent;
  return PhaseKind::kRows;
}

Rows op_rows(const Program& program, const Op& op) {
  return program.info(op.outputs.empty() ? op.inputs[0] : op.outputs[0]).rows;
}

// The phases in which a value's bytes must be kept: [first, last], both included.
struct Lifetime {
  int32_t first = std::numeric_limits<int32_t>::max();
  int32_t last = -1;
};

std::vector<Lifetime> lifetimes(const Program& program, const std::vector<Phase>& phases) {
  std::vector<Lifetime> lives(program.values.size());
  const auto extend = [&](Value value, int32_t phase) {
    Lifetime& life = lives[static_cast<size_t>(program.root(value).id)];
    life.first = std::min(life.first, phase);
    life.last = std::max(life.last, phase);
  };
  for (size_t p = 0; p < phases.size(); ++p) {
    const Phase& phase = phases[p];
    for (int32_t i = phase.first_op; i < phase.end_op; ++i) {
      const Op& op = program.ops[static_cast<size_t>(i)];
      // What one op of a gated network hands to the next never lies in the arena.
      const bool gated = phase.kind == PhaseKind::kGatedLinear;
      if (!gated || i == phase.first_op)
        for (Value value : op.inputs) extend(value, static_cast<int32_t>(p));
      if (!gated || i + 1 == phase.end_op)
        for (Value value : op.outputs) extend(value, static_cast<int32_t>(p));
    }
  }
  for (size_t v = 0; v < lives.size(); ++v) {
    if (program.values[v].tap) lives[v] = {0, static_cast<int32_t>(phases.size())};
  }
  return lives;
}

}  // namespace

std::vector<Phase> make_phases(const Program& program, RowPhases row_phases) {
  std::vector<Phase> phases;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const Op& op = program.ops[i];
    const Phase phase{
        .kind = phase_kind(op), .rows = op_rows(program, op), .first_op = index, .end_op = index + 1};
    const bool joins = row_phases == RowPhases::kMerged && !phases.empty() &&
                       phase.kind == PhaseKind::kRows && phases.back().kind == PhaseKind::kRows &&
                       phases.back().rows == phase.rows && !reads_by_index(op);
    if (joins) {
      phases.back().end_op = index + 1;
    } else {
      phases.push_back(phase);
    }
  }
  return phases;
}

bool merge_head(const Program& program, std::vector<Phase>& phases) {
  const auto op_at = [&](int32_t i) -> const Op& { return program.ops[static_cast<size_t>(i)]; };
  auto first = static_cast<int32_t>(program.ops.size()) - 1;
  Value value = program.logits;
  const auto goes_by_column = [](const Op& op) {
    return std::holds_alternative<ScaleAttrs>(op.attrs) || std::holds_alternative<SoftcapAttrs>(op.attrs) ||
           std::holds_alternative<SumPlanesAttrs>(op.attrs);
  };
  while (first > 0 && goes_by_column(op_at(first))) {
    if (!(op_at(first).outputs[0] == value)) return false;
    value = op_at(first--).inputs[0];
  }
  const Op& linear = op_at(first);
  if (!std::holds_alternative<LinearAttrs>(linear.attrs) || linear.weights.size() != 1 ||
      !(linear.outputs[0] == value) || op_rows(program, linear) != Rows::kOutputs) {
    return false;
  }
  // A linear layer is a phase of its own, so a phase starts at it.
  while (phases.back().first_op > first) phases.pop_back();
  phases.back() = {.kind = PhaseKind::kHead,
                   .rows = Rows::kOutputs,
                   .first_op = first,
                   .end_op = static_cast<int32_t>(program.ops.size())};
  return true;
}

namespace {

// Whether nothing but the ops [first, end) reads the value, views of it included.
bool stays_within(const Program& program, Value value, int32_t first, int32_t end) {
  if (program.info(program.root(value)).tap) return false;
  for (int32_t i = 0; i < static_cast<int32_t>(program.ops.size()); ++i) {
    if (i >= first && i < end) continue;
    const auto reads = [&](Value input) { return program.root(input) == program.root(value); };
    if (std::ranges::any_of(program.ops[static_cast<size_t>(i)].inputs, reads)) return false;
  }
  return true;
}

// Whether the ops [first, end) are two linear layers of one plane that make exactly the two sides of a
// gating, that gating, and at most the quantising of its result, and what they hand on is read by nobody
// else. Both sides may lie in one output.
bool is_gated_linear(const Program& program, int32_t first, int32_t end) {
  const auto op_at = [&](int32_t i) -> const Op& { return program.ops[static_cast<size_t>(i)]; };
  if (end - first < 2 || end - first > 3) return false;
  const Op& linear = op_at(first);
  const Op& gating = op_at(first + 1);
  if (!std::holds_alternative<GatedActivationAttrs>(gating.attrs)) return false;
  int64_t made = 0, taken = 0;
  for (size_t i = 0; i < linear.outputs.size(); ++i) {
    const ValueInfo& info = program.info(linear.outputs[i]);
    if (program.weights[static_cast<size_t>(linear.weights[i].id)].n_matrices != 1) return false;
    if (planes(info.type) != 1 || info.n_used != 0) return false;
    if (!stays_within(program, linear.outputs[i], first, end)) return false;
    made += info.cols;
  }
  for (const Value side : gating.inputs) {
    if (std::ranges::find(linear.outputs, program.root(side)) == linear.outputs.end()) return false;
    if (program.info(side).offset % kernels::kGroupRows != 0) return false;
    taken += program.info(side).cols;
  }
  if (made != taken || gating.inputs[0] == gating.inputs[1]) return false;
  if (end - first == 2) return true;
  const Op& quantize = op_at(first + 2);
  return std::holds_alternative<QuantizeAttrs>(quantize.attrs) && quantize.inputs[0] == gating.outputs[0] &&
         program.info(quantize.outputs[0]).n_used == 0 &&
         stays_within(program, gating.outputs[0], first, end);
}

}  // namespace

int merge_gated(const Program& program, std::vector<Phase>& phases) {
  int n_merged = 0;
  for (size_t i = 0; i + 1 < phases.size(); ++i) {
    const Phase& gating = phases[i + 1];
    if (phases[i].kind != PhaseKind::kLinear || gating.kind != PhaseKind::kRows ||
        !is_gated_linear(program, phases[i].first_op, gating.end_op)) {
      continue;
    }
    phases[i].kind = PhaseKind::kGatedLinear;
    phases[i].end_op = gating.end_op;
    phases.erase(phases.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    ++n_merged;
  }
  return n_merged;
}

size_t value_bytes(const ValueInfo& info, const StepLimits& limits) {
  const int64_t rows = memory_rows(info, limits.max_rows(info.rows));
  const int64_t cols = memory_cols(info);
  size_t bytes = static_cast<size_t>(rows) * static_cast<size_t>(cols) * sizeof(float);
  if (info.type == DataType::kExpertOrder) {
    bytes = expert_order_bytes(limits.max_rows(info.rows), info.n_used, info.cols);
  } else if (is_quantized(info.type)) {
    bytes = info.n_used > 0 ? pair_tiles_bytes(rows, cols)
                            : kernels::activation_bytes(kernels::ActivationKind::kQ8x32, rows, cols);
  }
  return (bytes + 63) / 64 * 64;
}

ArenaPlan plan_arena(const Program& program, const std::vector<Phase>& phases, const StepLimits& limits) {
  const std::vector<Lifetime> lives = lifetimes(program, phases);
  const size_t n = program.values.size();
  std::vector<size_t> sizes(n, 0);
  std::vector<size_t> order;
  ArenaPlan plan;
  plan.offsets.assign(n, 0);
  for (size_t v = 0; v < n; ++v) {
    if (program.values[v].parent.valid() || lives[v].last < 0) continue;
    sizes[v] = value_bytes(program.values[v], limits);
    if (program.values[v].tap) plan.tap_bytes += sizes[v];
    order.push_back(v);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });

  // Each value takes the lowest gap between the values already placed that are alive with it.
  std::vector<size_t> placed;
  std::vector<std::pair<size_t, size_t>> busy;  // [offset, end) of those
  for (size_t v : order) {
    busy.clear();
    for (size_t other : placed) {
      if (lives[other].first <= lives[v].last && lives[v].first <= lives[other].last) {
        busy.emplace_back(plan.offsets[other], plan.offsets[other] + sizes[other]);
      }
    }
    std::sort(busy.begin(), busy.end());
    size_t offset = 0;
    for (const auto& [begin, end] : busy) {
      if (begin >= offset + sizes[v]) break;
      offset = std::max(offset, end);
    }
    plan.offsets[v] = offset;
    plan.bytes = std::max(plan.bytes, offset + sizes[v]);
    placed.push_back(v);
  }
  for (size_t v = 0; v < n; ++v) {
    if (program.values[v].parent.valid())
      plan.offsets[v] = plan.offsets[static_cast<size_t>(program.values[v].parent.id)];
  }
  return plan;
}

}  // namespace quire::graph
