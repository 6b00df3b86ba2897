#include "graph/cpu/attention_step.h"

#include <algorithm>

namespace quire::graph {

AttentionStep::AttentionStep(const Op& op, const KvBinding& binding)
    : op_(&op), layout_(binding.layout), group_(std::get<AttentionAttrs>(op.attrs).n_head / layout_.n_head_kv) {}

size_t AttentionStep::scratch_bytes(const kernels::KernelTable& kernels) const {
  return (kernels.attention.scratch_bytes(group_, layout_.d_k, layout_.d_v) + 63) / 64 * 64;
}

void AttentionStep::run(const StepContext& context) const {
  const Op& op = *op_;
  const auto& attrs = std::get<AttentionAttrs>(op.attrs);
  const KvBinding& binding = context.kv[static_cast<size_t>(attrs.kv_layer)];
  const KvTables& tables = context.step->kv[static_cast<size_t>(binding.table)];
  const Value q = op.inputs[0];
  const Value out = op.outputs[0];
  const kernels::AttentionArgs args{.layout = layout_,
                                    .pages = binding.pages,
                                    .page_stride = binding.page_stride,
                                    .q = context.f32(q),
                                    .ld_q = context.ld(q),
                                    .out = context.f32(out),
                                    .ld_out = context.ld(out),
                                    .n_head = attrs.n_head,
                                    .scale = attrs.scale,
                                    .softcap = attrs.softcap,
                                    .window = attrs.window,
                                    .sinks = op.weights.empty() ? nullptr : context.vector(op.weights[0]),
                                    .spans = tables.spans.data(),
                                    .n_spans = static_cast<int32_t>(tables.spans.size()),
                                    .positions = context.step->positions};
  const int32_t tile_rows = context.kernels->attention.tile_rows(group_, layout_.d_k, layout_.d_v);
  std::vector<kernels::AttentionTile>& tiles = *context.tiles;
  tiles.clear();
  for (int32_t span = 0; span < args.n_spans; ++span) {
    // Later rows see more keys: they go first, so that the last tiles handed out are short ones.
    for (int32_t end = args.spans[span].row_end; end > args.spans[span].row_begin; end -= tile_rows) {
      const int32_t begin = std::max(args.spans[span].row_begin, end - tile_rows);
      tiles.push_back({.span = span, .row_begin = begin, .row_end = end});
    }
  }
  const auto n_tiles = static_cast<int64_t>(tiles.size()) * layout_.n_head_kv;
  context.pool->run(n_tiles, [&](int64_t t, int thread) {
    kernels::AttentionTile tile = tiles[static_cast<size_t>(t / layout_.n_head_kv)];
    tile.head_kv = static_cast<int32_t>(t % layout_.n_head_kv);
    context.kernels->attention.attend(args, tile, context.thread_scratch(thread));
  });
}

}  // namespace quire::graph
