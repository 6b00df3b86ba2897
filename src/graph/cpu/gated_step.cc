#include "graph/cpu/gated_step.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/activation_tiles.h"

namespace quire::graph {
namespace {

using kernels::kGroupRows;

// Floats of both sides that stay in the second-level cache until they are gated.
constexpr int64_t kTileFloats = 192 * 1024;

// Groups whose columns share a scale stay in one tile.
constexpr int64_t kBlockGroups = kernels::kActivationBlock / kGroupRows;

// Blocks of a tile at most.
int64_t most_blocks(int64_t m) {
  return std::max<int64_t>(1, kTileFloats / (2 * m * kernels::kActivationBlock));
}

}  // namespace

GatedStep::GatedStep(const Program& program, const Phase& phase, const kernels::KernelTable& kernels) {
  const auto op_at = [&](int32_t i) { return &program.ops[static_cast<size_t>(phase.first_op + i)]; };
  const Op& linear = *op_at(0);
  gating_ = op_at(1);
  quantize_ = phase.end_op - phase.first_op > 2 ? op_at(2) : nullptr;
  n_cols_ = program.info(gating_->outputs[0]).cols;
  const auto side = [&](Value value) {
    const auto found = std::ranges::find(linear.outputs, program.root(value));
    QUIRE_CHECK(found != linear.outputs.end());
    const auto i = static_cast<size_t>(found - linear.outputs.begin());
    const WeightDecl& decl = program.weights[static_cast<size_t>(linear.weights[i].id)];
    return Side{.input = linear.inputs[i],
                .weight = linear.weights[i],
                .decl = &decl,
                .kernel = &kernels::linear_kernel(kernels, *decl.format),
                .first_group = program.info(value).offset / kGroupRows};
  };
  gate_ = side(gating_->inputs[0]);
  up_ = side(gating_->inputs[1]);
}

size_t GatedStep::scratch_bytes(const StepLimits& limits) const {
  // More rows never take more than the larger of one full tile and one block each.
  const int64_t m = limits.max_tokens;
  const int64_t floats = std::max(kTileFloats, 2 * m * kernels::kActivationBlock);
  const int64_t all = 2 * m * (n_cols_ + kernels::kActivationBlock);
  return (static_cast<size_t>(std::min(floats, all)) * sizeof(float) + 63) / 64 * 64;
}

void GatedStep::run_side(const StepContext& context, const Side& side, const Tile& tile, float* out) const {
  const bool quantized = is_quantized(context.program->info(side.input).type);
  const auto first = static_cast<size_t>(side.first_group + tile.begin);
  const int64_t k = side.decl->k();
  const kernels::LinearArgs args{
      .weights = context.weights->packed(side.weight) + first * side.decl->format->group_bytes(k),
      .n = tile.cols,
      .k = k,
      .activations =
          quantized ? context.bytes(side.input) : reinterpret_cast<const std::byte*>(context.f32(side.input)),
      .ld_activations = context.ld(side.input),
      .m = tile.m,
      .out = out,
      .ld_out = tile.cols};
  side.kernel->run(args, 0, tile.end - tile.begin);
}

void GatedStep::finish(const StepContext& context, const Tile& tile, float* gate, const float* up) const {
  const Value result = gating_->outputs[0];
  const int64_t first = tile.begin * kGroupRows;
  // Values that are quantised at once take the place of the gate.
  const bool keeps = quantize_ == nullptr;
  float* const y = keeps ? context.f32(result) + first : gate;
  const kernels::GatedActivationArgs gating{
      .gate = gate,
      .ld_gate = tile.cols,
      .up = up,
      .ld_up = tile.cols,
      .y = y,
      .ld_y = keeps ? context.ld(result) : tile.cols,
      .n_cols = tile.cols,
      .activation = std::get<GatedActivationAttrs>(gating_->attrs).activation};
  if (keeps) return context.kernels->rows.gated_activation(gating, 0, tile.m);
  const Value codes = quantize_->outputs[0];
  const ValueInfo& info = context.program->info(codes);
  const kernels::QuantizeArgs quantizing{
      .planes = planes(info.type) == 2 ? kernels::ActivationPlanes::kTwo : kernels::ActivationPlanes::kOne,
      .x = y,
      .ld_x = tile.cols,
      .out = context.bytes(codes),
      .m = tile.m,
      .k = info.cols,
      .block_begin = tile.begin / kBlockGroups,
      .n_columns = tile.cols};
  // A few rows at a time stay in the nearest cache.
  const int64_t n = kernels::activation_tiles(tile.m);
  for (int64_t t = 0; t < n; ++t) {
    const int64_t begin = tile.m * t / n, end = tile.m * (t + 1) / n;
    context.kernels->rows.gated_activation(gating, begin, end);
    context.kernels->linear.quantize(quantizing, begin, end);
  }
}

void GatedStep::run(const StepContext& context) const {
  const int64_t m = context.n_rows(context.program->info(gating_->outputs[0]).rows);
  if (m == 0) return;
  const int64_t groups = kernels::n_groups(n_cols_);
  const int64_t wanted =
      kernels::groups_per_tile(*gate_.decl->format, n_cols_, gate_.decl->k(), m, context.n_threads);
  const int64_t per_tile = std::clamp<int64_t>(wanted / (2 * kBlockGroups), 1, most_blocks(m)) * kBlockGroups;
  // Neighbours share cache lines of the quantised rows: tiles that run at the same time lie far apart.
  const int64_t strips = context.n_threads;
  const int64_t tiles = (groups + per_tile - 1) / per_tile, per_strip = (tiles + strips - 1) / strips;
  context.pool->run(strips * per_strip, [&](int64_t i, int thread) {
    const int64_t begin = (i % strips * per_strip + i / strips) * per_tile;
    const int64_t end = std::min(groups, begin + per_tile);
    if (begin >= end) return;
    const int64_t cols = std::min(n_cols_, end * kGroupRows) - begin * kGroupRows;
    const Tile tile{.m = m, .begin = begin, .end = end, .cols = cols};
    auto* const gate = reinterpret_cast<float*>(context.thread_scratch(thread));
    float* const up = gate + m * per_tile * kGroupRows;
    run_side(context, gate_, tile, gate);
    run_side(context, up_, tile, up);
    finish(context, tile, gate, up);
  });
}

}  // namespace quire::graph
