// HeadStep: the vocabulary's linear layer, and what is left to do with its outputs (sum of planes, scale,
// soft cap) tile of columns by tile of columns while they are warm; where a step asks for it, also the
// largest logit of every row.
//
// Column by column the same operations as the phases it stands for, hence the same bits; the largest logit is
// that of the final values, the lowest id among equals. Borrows the program, which must outlive it. run() is
// called by the executor's thread; the pool helps.
#pragma once

#include <cstdint>
#include <span>

#include "graph/cpu/linear_step.h"
#include "graph/cpu/step_context.h"
#include "graph/schedule.h"

namespace quire::graph {

class HeadStep {
 public:
  // `phase` is one of kind kHead (merge_head).
  HeadStep(const Program& program, const Phase& phase, const kernels::KernelTable& kernels);
  void run(const StepContext& context) const;

 private:
  LinearStep linear_;
  std::span<const Op> tail_;  // sum of planes, scale, soft cap
};

}  // namespace quire::graph
