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

void StepProfile::on_phase(const graph::Phase& phase, std::chrono::nanoseconds elapsed) {
  std::string names;
  std::string label;
  graph::OpCost cost;
  for (int32_t i = phase.first_op; i < phase.end_op; ++i) {
    const graph::Op& op = program_.ops[static_cast<size_t>(i)];
    const std::string name = graph::op_name(op);
    const bool repeated =
        i > phase.first_op && graph::op_name(program_.ops[static_cast<size_t>(i - 1)]) == name;
    if (!repeated) names += (names.empty() ? "" : "+") + name;
    if (label.empty()) label = label_without_layer(op.label);
    cost += graph::op_cost(program_, op, shape_);
  }
  ProfileRow& row = rows_[{names, label}];
  row.op = names;
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
