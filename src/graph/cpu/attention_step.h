// AttentionStep: one attention op, divided into tiles of some rows of one sequence against one KV head.
//
// Borrows the op and the binding. run() is called by the executor's thread; the pool helps.
#pragma once

#include <cstddef>

#include "graph/cpu/step_context.h"

namespace quire::graph {

class AttentionStep {
 public:
  AttentionStep(const Op& op, const KvBinding& binding);

  // Bytes one thread needs, a multiple of 64.
  size_t scratch_bytes(const kernels::KernelTable& kernels) const;

  void run(const StepContext& context) const;

 private:
  const Op* op_;
  kernels::KvLayout layout_;
  int32_t group_;  // query heads that share one KV head
};

}  // namespace quire::graph
