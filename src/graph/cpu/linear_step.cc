#include "graph/cpu/linear_step.h"

#include <algorithm>

#include "base/check.h"
#include "graph/expert_order.h"

namespace quire::graph {

LinearStep::LinearStep(const Program& program, const Op& op, const kernels::KernelTable& kernels) : op_(&op) {
  // q|k|v, gate|up and the like: a handful of matrices.
  QUIRE_CHECK(op.weights.size() <= kMaxLinears);
  for (WeightId id : op.weights) {
    const WeightDecl& decl = program.weights[static_cast<size_t>(id.id)];
    kernels_.push_back(&kernels::linear_kernel(kernels, *decl.format));
  }
}

void LinearStep::run(const StepContext& context, AfterTile after_tile) const {
  struct Segment {
    kernels::LinearArgs args;  // of the first matrix
    const WeightDecl* decl;
    const kernels::LinearKernel* kernel;
    bool quantized;
    int64_t groups, groups_per_tile, n_tiles, first_tile;  // n_tiles of one matrix
  };
  const Op& op = *op_;
  const Program& program = *context.program;
  Segment segments[kMaxLinears];
  const ValueInfo& first_output = program.info(op.outputs[0]);
  const int64_t m = context.n_rows(first_output.rows) * planes(first_output.type);
  if (m == 0) return;
  int64_t n_tiles = 0;
  for (size_t i = 0; i < op.weights.size(); ++i) {
    const WeightDecl& decl = program.weights[static_cast<size_t>(op.weights[i].id)];
    const Value input = op.inputs[i];
    Segment& segment = segments[i];
    segment.decl = &decl;
    segment.kernel = kernels_[i];
    segment.quantized = is_quantized(program.info(input).type);
    segment.args = {.weights = context.weights->packed(op.weights[i]),
                    .n = decl.n(),
                    .k = decl.k(),
                    .activations = segment.quantized ? context.bytes(input)
                                                     : reinterpret_cast<const std::byte*>(context.f32(input)),
                    .ld_activations = context.ld(input),
                    .m = m,
                    .out = context.f32(op.outputs[i]),
                    .ld_out = context.ld(op.outputs[i])};
    segment.groups = kernels::n_groups(segment.args.n);
    // Matrices of heads are small: cut as if they were one.
    segment.groups_per_tile =
        std::min(segment.groups, kernels::groups_per_tile(*decl.format, decl.n_matrices * segment.args.n,
                                                          segment.args.k, m, context.n_threads));
    segment.n_tiles = (segment.groups + segment.groups_per_tile - 1) / segment.groups_per_tile;
    segment.first_tile = n_tiles;
    n_tiles += decl.n_matrices * segment.n_tiles;
  }
  context.pool->run(n_tiles, [&](int64_t tile, int thread) {
    size_t i = op.weights.size() - 1;
    while (tile < segments[i].first_tile) --i;
    const Segment& segment = segments[i];
    const int64_t matrix = (tile - segment.first_tile) / segment.n_tiles;
    const int64_t begin = (tile - segment.first_tile) % segment.n_tiles * segment.groups_per_tile;
    kernels::LinearArgs args = segment.args;
    args.weights += static_cast<size_t>(matrix) * segment.decl->packed_bytes();
    args.activations += segment.quantized ? pair_tiles_offset(static_cast<size_t>(matrix), matrix * m, args.k)
                                          : static_cast<size_t>(matrix * args.k) * sizeof(float);
    args.out += matrix * args.n;
    const int64_t end = std::min(segment.groups, begin + segment.groups_per_tile);
    segment.kernel->run(args, begin, end);
    after_tile(begin * kernels::kGroupRows, std::min(args.n, end * kernels::kGroupRows), thread);
  });
}

}  // namespace quire::graph
