#include "engine/bench_profile.h"

#include <algorithm>
#include <string_view>

namespace quire {

std::string label_without_layer(const std::string& label) {
  constexpr std::string_view kPrefix = "blk.";
  if (label.rfind(kPrefix, 0) != 0) return label;
  const size_t dot = label.find_first_not_of("0123456789", kPrefix.size());
  return dot != std::string::npos && dot > kPrefix.size() && label[dot] == '.' ? label.substr(dot + 1)
                                                                               : label;
}

PhaseName phase_name(const graph::Program& program, const graph::Phase& phase) {
  PhaseName name;
  std::string last;
  for (int32_t i = phase.first_op; i < phase.end_op; ++i) {
    const graph::Op& op = program.ops[static_cast<size_t>(i)];
    std::string ops = graph::op_name(op);
    if (ops != last) name.ops += (name.ops.empty() ? "" : "+") + ops;
    if (name.label.empty()) name.label = op.label;
    last = std::move(ops);
  }
  return name;
}

void StepProfile::on_phase(const graph::Phase& phase, std::chrono::nanoseconds elapsed) {
  graph::OpCost cost;
  for (int32_t i = phase.first_op; i < phase.end_op; ++i)
    cost += graph::op_cost(program_, program_.ops[static_cast<size_t>(i)], shape_);
  const PhaseName name = phase_name(program_, phase);
  const std::string label = label_without_layer(name.label);
  ProfileRow& row = rows_[{name.ops, label}];
  row.op = name.ops;
  row.label = label;
  row.calls += 1;
  row.seconds += std::chrono::duration<double>(elapsed).count();
  row.cost += cost;
}

std::vector<ProfileRow> StepProfile::rows() const {
  std::vector<ProfileRow> sorted;
  for (const auto& [key, row] : rows_) sorted.push_back(row);
  std::sort(sorted.begin(), sorted.end(),
            [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return sorted;
}

}  // namespace quire
