#include "graph/program.h"

#include <fmt/format.h>

namespace quire::graph {

std::string describe(const Program& program) {
  std::string text;
  auto append_values = [&text](const std::vector<Value>& values) {
    for (Value value : values) text += fmt::format(" %{}", value.id);
  };
  for (const Op& op : program.ops) {
    text += fmt::format("{} {}:", op_name(op), op.label);
    append_values(op.inputs);
    text += " ->";
    append_values(op.outputs);
    text += '\n';
  }
  return text;
}

}  // namespace quire::graph
