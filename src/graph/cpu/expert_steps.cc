#include "graph/cpu/expert_steps.h"

#include <algorithm>

#include "base/check.h"

namespace quire::graph {
namespace {

// One of the op's matrices, of all experts.
struct Layer {
  const WeightDecl* decl;
  const kernels::LinearKernel* kernel;
  const std::byte* weights;
  const float* bias;  // [n_expert, n], or null
  const ValueInfo* input;
  const std::byte* rows;
  float* both_planes;  // null with one plane
  float* out;
  int64_t groups, groups_per_tile, first_tile;  // of one expert
};

// How many groups of an expert's matrix one tile takes, with about m rows an expert: as if the experts'
// matrices were one of as many rows, so that there are some tiles a thread whatever their number. A few rows
// read memory once, as one does. Smaller tiles for an evener end, and larger ones for longer runs, both read
// 0 to 4% slower.
int64_t groups_per_tile(const Layer& layer, int64_t n_experts, int64_t m, int n_threads) {
  constexpr int64_t kFewRows = 4;
  return std::min(layer.groups, kernels::groups_per_tile(*layer.decl->format,
                                                         n_experts * layer.groups * kernels::kGroupRows,
                                                         layer.decl->k(), m <= kFewRows ? 1 : m, n_threads));
}

// Groups [group_begin, group_end) of one expert's matrix, for the expert's pairs, which are the i-th in
// order.
void run_tile(const StepContext& context, const Layer& layer, const ExpertGroup& expert, size_t i,
              int64_t group_begin, int64_t group_end) {
  const int64_t n = layer.decl->n();
  const int64_t k = layer.decl->k();
  const int64_t n_planes = planes(layer.input->type);
  const int64_t begin = expert.begin * n_planes;
  float* out = layer.out + expert.begin * n;
  float* kernel_out = layer.both_planes != nullptr ? layer.both_planes + begin * n : out;
  const kernels::LinearArgs args{
      .weights = layer.weights + static_cast<size_t>(expert.expert) * layer.decl->packed_bytes(),
      .n = n,
      .k = k,
      .activations =
          layer.rows + (is_quantized(layer.input->type) ? pair_tiles_offset(i, begin, k)
                                                        : static_cast<size_t>(begin * k) * sizeof(float)),
      .ld_activations = k,
      .m = expert.n_rows * n_planes,
      .out = kernel_out,
      .ld_out = n};
  layer.kernel->run(args, group_begin, group_end);

  // The rest of the layer while its columns are near.
  const int64_t column = group_begin * kernels::kGroupRows;
  const int64_t n_cols = std::min(n, group_end * kernels::kGroupRows) - column;
  if (layer.both_planes != nullptr) {
    context.kernels->rows.add({.a = kernel_out + column,
                               .ld_a = n,
                               .b = kernel_out + expert.n_rows * n + column,
                               .ld_b = n,
                               .y = out + column,
                               .ld_y = n,
                               .n_cols = n_cols,
                               .b_scale = 1},
                              0, expert.n_rows);
  }
  if (layer.bias != nullptr) {
    context.kernels->rows.add_bias({.x = out + column,
                                    .ld_x = n,
                                    .bias = layer.bias + expert.expert * n + column,
                                    .y = out + column,
                                    .ld_y = n,
                                    .n_cols = n_cols},
                                   0, expert.n_rows);
  }
}

}  // namespace

ExpertOrder order_of(const StepContext& context, Value order) {
  const ValueInfo& info = context.program->info(order);
  return read_expert_order(context.bytes(order), context.n_rows(info.rows), info.n_used, info.cols);
}

void SortPairsStep::run(const StepContext& context) const {
  const Value order = op_->outputs[0];
  const ValueInfo& info = context.program->info(order);
  const auto* ids = reinterpret_cast<const int32_t*>(context.bytes(op_->inputs[0]));
  sort_pairs(ids, context.n_rows(info.rows), info.n_used, info.cols, context.bytes(order));
}

ExpertLinearStep::ExpertLinearStep(const Program& program, const Op& op, const kernels::KernelTable& kernels)
    : op_(&op) {
  QUIRE_CHECK(op.weights.size() <= kMaxLinears);
  for (size_t w = 0; w < op.weights.size(); w += 2) {
    const WeightDecl& decl = program.weights[static_cast<size_t>(op.weights[w].id)];
    kernels_.push_back(&kernels::linear_kernel(kernels, *decl.format));
  }
}

void ExpertLinearStep::run(const StepContext& context) const {
  const Op& op = *op_;
  const Program& program = *context.program;
  const size_t outputs_per_layer = op.outputs.size() / kernels_.size();
  const int64_t n_rows = context.n_rows(program.info(op.outputs[0]).rows);
  if (n_rows == 0) return;
  const ExpertOrder order = order_of(context, op.inputs[1]);
  const auto n_experts = static_cast<int64_t>(order.groups.size());

  Layer layers[kMaxLinears];
  int64_t tiles_per_expert = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const WeightId matrix = op.weights[2 * i];
    const Value rows = op.inputs[2 * i];
    const Value* outputs = &op.outputs[outputs_per_layer * i];
    Layer& layer = layers[i];
    layer = {.decl = &program.weights[static_cast<size_t>(matrix.id)],
             .kernel = kernels_[i],
             .weights = context.weights->packed(matrix),
             .bias = context.vector(op.weights[2 * i + 1]),
             .input = &program.info(rows),
             .rows = context.bytes(rows),
             .both_planes = outputs_per_layer == 2 ? context.f32(outputs[0]) : nullptr,
             .out = context.f32(outputs[outputs_per_layer - 1]),
             .groups = kernels::n_groups(program.weights[static_cast<size_t>(matrix.id)].n()),
             .groups_per_tile = 0,
             .first_tile = tiles_per_expert};
    const int64_t pairs = n_rows * layer.input->n_used * planes(layer.input->type);
    layer.groups_per_tile =
        groups_per_tile(layer, n_experts, (pairs + n_experts - 1) / n_experts, context.n_threads);
    tiles_per_expert += (layer.groups + layer.groups_per_tile - 1) / layer.groups_per_tile;
  }
  context.pool->run(n_experts * tiles_per_expert, [&](int64_t tile, int) {
    const auto expert = static_cast<size_t>(tile / tiles_per_expert);
    const int64_t t = tile % tiles_per_expert;
    size_t i = kernels_.size() - 1;
    while (t < layers[i].first_tile) --i;
    const Layer& layer = layers[i];
    const int64_t begin = (t - layer.first_tile) * layer.groups_per_tile;
    run_tile(context, layer, order.groups[expert], expert, begin,
             std::min(layer.groups, begin + layer.groups_per_tile));
  });
}

}  // namespace quire::graph
