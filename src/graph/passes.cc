#include "graph/passes.h"

#include <algorithm>
#include <array>
#include <optional>

namespace quire::graph {
namespace {

bool contains(const std::vector<Value>& values, Value value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Whether `op` reads (through views too) something that `producer` writes.
bool depends_on(const Program& program, const Op& op, const Op& producer) {
  for (Value input : op.inputs) {
    for (Value output : producer.outputs) {
      if (program.root(input) == program.root(output)) return true;
    }
  }
  return false;
}

// Moves each quantize up to right behind the op that makes its input, so that it stands in no linear layer's
// way.
void hoist_quantize(Program& program) {
  std::vector<Op>& ops = program.ops;
  for (size_t i = 1; i < ops.size(); ++i) {
    if (!std::holds_alternative<QuantizeAttrs>(ops[i].attrs) &&
        !std::holds_alternative<GatherPairsAttrs>(ops[i].attrs))
      continue;
    size_t to = i;
    while (to > 0 && !depends_on(program, ops[i], ops[to - 1])) --to;
    std::rotate(ops.begin() + static_cast<std::ptrdiff_t>(to), ops.begin() + static_cast<std::ptrdiff_t>(i),
                ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

bool is_linear(const Op& op) {
  return std::holds_alternative<LinearAttrs>(op.attrs) || std::holds_alternative<ExpertLinearAttrs>(op.attrs);
}

int fuse_linear(Program& program) {
  // How far ahead a partner may stand: q|k|v with their biases, norms and ropes between them.
  constexpr size_t kWindow = 12;
  hoist_quantize(program);
  std::vector<Op>& ops = program.ops;
  int fired = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!is_linear(ops[i])) continue;
    const ValueInfo first = program.info(ops[i].outputs[0]);
    for (size_t j = i + 1; j < ops.size() && j <= i + kWindow && ops[i].weights.size() < kMaxLinears;) {
      bool movable = ops[j].attrs.index() == ops[i].attrs.index();
      if (std::holds_alternative<ExpertLinearAttrs>(ops[i].attrs))
        movable = movable && ops[j].inputs[1] == ops[i].inputs[1];  // one order of pairs
      if (movable) {
        const ValueInfo& other = program.info(ops[j].outputs[0]);
        movable = other.rows == first.rows && planes(other.type) == planes(first.type);
      }
      for (size_t between = i; movable && between < j; ++between)
        movable = !depends_on(program, ops[j], ops[between]);
      if (!movable) {
        ++j;
        continue;
      }
      Op partner = std::move(ops[j]);
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(j));
      Op& op = ops[i];
      op.inputs.insert(op.inputs.end(), partner.inputs.begin(), partner.inputs.end());
      op.outputs.insert(op.outputs.end(), partner.outputs.begin(), partner.outputs.end());
      op.weights.insert(op.weights.end(), partner.weights.begin(), partner.weights.end());
      op.label += "|" + partner.label.substr(partner.label.rfind('.') + 1);
      ++fired;
    }
  }
  return fired;
}

int fuse_add_norm(Program& program) {
  std::vector<Op>& ops = program.ops;
  int fired = 0;
  for (size_t i = 0; i + 1 < ops.size(); ++i) {
    const auto* add = std::get_if<AddAttrs>(&ops[i].attrs);
    const auto* norm = std::get_if<RmsNormAttrs>(&ops[i + 1].attrs);
    if (add == nullptr || norm == nullptr) continue;
    if (norm->n_groups != 1 || ops[i + 1].weights.empty()) continue;
    if (!contains(ops[i + 1].inputs, ops[i].outputs[0])) continue;
    Op fused{.attrs = AddRmsNormAttrs{.b_scale = add->b_scale, .eps = norm->eps},
             .inputs = ops[i].inputs,
             .outputs = {ops[i].outputs[0], ops[i + 1].outputs[0]},
             .weights = ops[i + 1].weights,
             .label = ops[i + 1].label};
    ops[i] = std::move(fused);
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    ++fired;
  }
  return fired;
}

struct Pass {
  PassInfo info;
  int (*run)(Program&);
};

constexpr std::array<Pass, 2> kPasses = {{
    {{"fuse-linear", "q|k|v and gate|up run as one linear layer, of experts too"}, fuse_linear},
    {{"fuse-add-norm", "residual sum and norm in one read of the row"}, fuse_add_norm},
}};

constexpr std::array<PassInfo, kPasses.size()> kPassInfos = {{kPasses[0].info, kPasses[1].info}};

}  // namespace

std::span<const PassInfo> pass_list() { return kPassInfos; }

std::vector<PassReport> run_passes(Program& program, std::span<const std::string> off) {
  std::vector<PassReport> reports;
  for (const Pass& pass : kPasses) {
    PassReport report{.name = pass.info.name};
    report.enabled = std::find(off.begin(), off.end(), report.name) == off.end();
    if (report.enabled) report.fired = pass.run(program);
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace quire::graph
