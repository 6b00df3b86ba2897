// AttentionStep: one attention op, divided into tiles of some rows of one sequence with one unit of heads;
// where these are too few or too unequal for the threads, into parts of their positions, merged afterwards.
//
// The division decides speed only: records of chunks are added in the same order by one thread or many.
// Borrows the op and the binding. run() is called by the executor's thread; the pool helps.
#pragma once

#include <cstddef>

#include "graph/cpu/step_context.h"

namespace quire::graph {

class AttentionStep {
 public:
  AttentionStep(const Op& op, const KvBinding& binding, const kernels::KernelTable& kernels);

  // Bytes one thread needs, a multiple of 64.
  size_t scratch_bytes() const;

  // The most tiles x units of heads that are worth dividing, and the floats of records reserved for them.
  static int64_t max_split_units(int n_threads);
  static int64_t partial_floats(int n_threads);

  void run(const StepContext& context) const;

 private:
  // Query tokens of a tile.
  int32_t choose_tile_rows(const kernels::AttentionArgs& args, int n_threads) const;
  // Whether to divide by positions: threads would idle, and the records fit.
  bool divide(const kernels::AttentionArgs& args, const StepContext& context) const;
  void run_whole(const kernels::AttentionArgs& args, const StepContext& context) const;
  void run_split(const kernels::AttentionArgs& args, const StepContext& context) const;
  int64_t row_records(const kernels::AttentionTile& tile) const {
    return int64_t{tile.row_end - tile.row_begin} * units_.n_heads;
  }

  const Op* op_;
  kernels::KvLayout layout_;
  const kernels::AttentionOps* attention_;
  kernels::HeadUnits units_;
};

}  // namespace quire::graph
