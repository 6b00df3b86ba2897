// RowSteps: the ops of one row phase, run row tile by row tile through all of them while the rows are warm.
//
// Borrows the program's ops, which must outlive it. run() is called by the executor's thread; the pool helps.
#pragma once

#include <cstdint>
#include <span>

#include "graph/cpu/step_context.h"
#include "graph/schedule.h"

namespace quire::graph {

class RowSteps {
 public:
  RowSteps(const Program& program, const Phase& phase);
  void run(const StepContext& context) const;

 private:
  std::span<const Op> ops_;
  Rows rows_;
  int64_t width_ = 0;  // values one row touches
  bool quantizes_ = false;
};

}  // namespace quire::graph
