// GatedStep: the two linear layers of a gated feed-forward network, their gating and the quantising of the
// result, tile of columns by tile of columns while the values are in the cache of the thread that made them.
//
// Column by column the same operations as the phases it stands for, hence the same bits. What both layers
// make lies in the thread's scratch only. Borrows the program, which must outlive it. run() is called by the
// executor's thread; the pool helps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/cpu/step_context.h"
#include "graph/schedule.h"

namespace quire::graph {

class GatedStep {
 public:
  // `phase` is one of kind kGatedLinear (merge_gated).
  GatedStep(const Program& program, const Phase& phase, const kernels::KernelTable& kernels);
  void run(const StepContext& context) const;

  size_t scratch_bytes(const StepLimits& limits) const;  // per thread

 private:
  // One side of the gating: n_cols_ columns of a matrix of the linear op, from group first_group on.
  struct Side {
    Value input;
    WeightId weight;
    const WeightDecl* decl;
    const kernels::LinearKernel* kernel;
    int64_t first_group;
  };
  // Groups [begin, end) of both sides, for m rows.
  struct Tile {
    int64_t m, begin, end, cols;
  };
  // One side of a tile, to out [m, cols].
  void run_side(const StepContext& context, const Side& side, const Tile& tile, float* out) const;
  // Gates [m, cols] and puts the result where it belongs.
  void finish(const StepContext& context, const Tile& tile, float* gate, const float* up) const;

  const Op* gating_;
  const Op* quantize_;  // null when what follows takes the values as they are
  Side gate_, up_;
  int64_t n_cols_;
};

}  // namespace quire::graph
