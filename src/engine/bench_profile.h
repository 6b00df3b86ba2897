// StepProfile: where the time of some steps went, by kind of op and by its name without the layer's number.
//
// A Profiler for Runner::set_profiler(); begin_step() must come before each step. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/op_cost.h"
#include "graph/profiler.h"

namespace quire {

struct ProfileRow {
  std::string op;     // "linear", "attention"; row ops that run together: "add_rms_norm+quantize"
  std::string label;  // "ffn_gate|up" for every layer's "blk.N.ffn_gate|up"
  int64_t calls = 0;
  double seconds = 0;
  graph::OpCost cost;
};

class StepProfile final : public graph::Profiler {
 public:
  explicit StepProfile(const graph::Program& program) : program_(program) {}

  // `shape` is read until the next call.
  void begin_step(const graph::StepShape& shape) { shape_ = shape; }
  void on_phase(const graph::Phase& phase, std::chrono::nanoseconds elapsed) override;

  // Most time first.
  std::vector<ProfileRow> rows() const;

 private:
  const graph::Program& program_;
  graph::StepShape shape_;
  std::map<std::pair<std::string, std::string>, ProfileRow> rows_;  // by op and label
};

// "add_rms_norm+quantize", and the label of its first op that has one, such as "blk.12.ffn_up".
struct PhaseName {
  std::string ops;
  std::string label;
};
PhaseName phase_name(const graph::Program& program, const graph::Phase& phase);

// "ffn_up" for "blk.12.ffn_up".
std::string label_without_layer(const std::string& label);

}  // namespace quire
