// The steps of a mixture of experts that are no row ops: sorting pairs by expert, and the linear layers of
// experts, divided into experts x runs of columns, so that one row's few experts keep every thread busy.
//
// Borrow the program, which must outlive them. run() is called by the executor's thread; the pool helps.
#pragma once

#include <vector>

#include "graph/cpu/step_context.h"
#include "graph/expert_order.h"

namespace quire::graph {

// What SortPairsStep left in an order value in this step.
ExpertOrder order_of(const StepContext& context, Value order);

class SortPairsStep {
 public:
  explicit SortPairsStep(const Op& op) : op_(&op) {}
  void run(const StepContext& context) const;

 private:
  const Op* op_;
};

// One expert_linear op: up to kMaxLinears / 2 matrices of every expert that some row goes to.
class ExpertLinearStep {
 public:
  ExpertLinearStep(const Program& program, const Op& op, const kernels::KernelTable& kernels);
  void run(const StepContext& context) const;

 private:
  const Op* op_;
  std::vector<const kernels::LinearKernel*> kernels_;  // by matrix
};

}  // namespace quire::graph
