// RecurrentStep: one convolution or scan, divided into the spans of the step times runs of units.
//
// Every unit takes its span's rows in order, so the division decides speed only. Borrows the op, which must
// outlive it. run() is called by the executor's thread; the pool helps.
#pragma once

#include "graph/cpu/step_context.h"

namespace quire::graph {

class RecurrentStep {
 public:
  explicit RecurrentStep(const Op& op) : op_(&op) {}
  void run(const StepContext& context) const;

 private:
  const Op* op_;
};

}  // namespace quire::graph
