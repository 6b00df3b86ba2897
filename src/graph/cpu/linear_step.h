// LinearStep: one linear op (up to kMaxLinears matrices that share a division of work), its kernels chosen
// once.
//
// Borrows the program, which must outlive it. run() is called by the executor's thread; the pool helps.
#pragma once

#include <vector>

#include "graph/cpu/step_context.h"

namespace quire::graph {

class LinearStep {
 public:
  LinearStep(const Program& program, const Op& op, const kernels::KernelTable& kernels);
  void run(const StepContext& context) const;

 private:
  const Op* op_;
  std::vector<const kernels::LinearKernel*> kernels_;  // by matrix
};

}  // namespace quire::graph
