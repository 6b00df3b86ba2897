// LinearStep: one linear op (up to kMaxLinears matrices that share a division of work), its kernels chosen
// once.
//
// Borrows the program, which must outlive it. run() is called by the executor's thread; the pool helps.
#pragma once

#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "graph/cpu/step_context.h"

namespace quire::graph {

class LinearStep {
 public:
  LinearStep(const Program& program, const Op& op, const kernels::KernelTable& kernels);
  void run(const StepContext& context) const {
    run(context, [](int64_t, int64_t, int) {});
  }
  // Calls after_tile(begin, end, thread) when columns [begin, end) of all rows of a matrix are there, on the
  // thread that computed them.
  using AfterTile = FunctionRef<void(int64_t begin, int64_t end, int thread)>;
  void run(const StepContext& context, AfterTile after_tile) const;

 private:
  const Op* op_;
  std::vector<const kernels::LinearKernel*> kernels_;  // by matrix
};

}  // namespace quire::graph
