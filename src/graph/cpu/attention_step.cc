#include "graph/cpu/attention_step.h"

#include <algorithm>

namespace quire::graph {
namespace {

// Chunks of one part: 256 positions are some 10 us of reading, long against handing a part out.
constexpr int32_t kPartChunks = 4;
// Below this many chunks in all, dividing costs more than it balances.
constexpr int64_t kLeastChunks = 16;
// Records of decoding rows: 32 heads of 128 over 4,000 positions take about 1 MB.
constexpr int64_t kPartialFloatsPerThread = 256 << 10;

}  // namespace

AttentionStep::AttentionStep(const Op& op, const KvBinding& binding)
    : op_(&op),
      layout_(binding.layout),
      group_(std::get<AttentionAttrs>(op.attrs).n_head / layout_.n_head_kv) {}

size_t AttentionStep::scratch_bytes(const kernels::KernelTable& kernels) const {
  return (kernels.attention.scratch_bytes(group_, layout_.d_k, layout_.d_v) + 63) / 64 * 64;
}

int64_t AttentionStep::max_split_units(int n_threads) { return int64_t{4} * n_threads; }

int64_t AttentionStep::partial_floats(int n_threads) {
  return n_threads == 1 ? 0 : kPartialFloatsPerThread * n_threads;
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
  std::vector<kernels::AttentionTile>& tiles = context.attention->tiles;
  tiles.clear();
  const int32_t tile_rows = context.kernels->attention.tile_rows(group_, layout_.d_k, layout_.d_v);
  for (int32_t span = 0; span < args.n_spans; ++span) {
    // Later rows see more keys: they go first, so that the last tiles handed out are short ones.
    for (int32_t end = args.spans[span].row_end; end > args.spans[span].row_begin; end -= tile_rows) {
      const int32_t begin = std::max(args.spans[span].row_begin, end - tile_rows);
      tiles.push_back({.span = span, .row_begin = begin, .row_end = end});
    }
  }
  if (divide(args, context)) {
    run_split(args, context);
  } else {
    run_whole(args, context);
  }
}

void AttentionStep::run_whole(const kernels::AttentionArgs& args, const StepContext& context) const {
  const std::vector<kernels::AttentionTile>& tiles = context.attention->tiles;
  const auto n_tiles = static_cast<int64_t>(tiles.size()) * layout_.n_head_kv;
  context.pool->run(n_tiles, [&](int64_t t, int thread) {
    kernels::AttentionTile tile = tiles[static_cast<size_t>(t / layout_.n_head_kv)];
    tile.head_kv = static_cast<int32_t>(t % layout_.n_head_kv);
    context.kernels->attention.attend(args, tile, context.thread_scratch(thread));
  });
}

bool AttentionStep::divide(const kernels::AttentionArgs& args, const StepContext& context) const {
  AttentionBuffers& buffers = *context.attention;
  const int64_t n_threads = context.n_threads;
  const auto n_units = static_cast<int64_t>(buffers.tiles.size()) * layout_.n_head_kv;
  if (buffers.n_partials == 0 || n_units > max_split_units(context.n_threads)) return false;
  int64_t n_chunks = 0, longest = 0, n_floats = 0;
  const int64_t record = context.kernels->attention.partial_floats(layout_.d_v);
  for (const kernels::AttentionTile& tile : buffers.tiles) {
    const kernels::ChunkRange seen = kernels::chunks_seen(args, tile);
    const int64_t chunks = seen.end - seen.begin;
    n_chunks += chunks * layout_.n_head_kv;
    longest = std::max(longest, chunks);
    n_floats += chunks * layout_.n_head_kv * (tile.row_end - tile.row_begin) * group_ * record;
  }
  // Undivided, some thread works through about this many chunks; an even share would be n_chunks / n_threads.
  const int64_t undivided = std::max(longest, (n_units + n_threads - 1) / n_threads * n_chunks / n_units);
  return n_chunks >= kLeastChunks && n_floats <= buffers.n_partials &&
         undivided * n_threads * 8 > n_chunks * 9;
}

void AttentionStep::run_split(const kernels::AttentionArgs& args, const StepContext& context) const {
  const kernels::AttentionOps& attention = context.kernels->attention;
  AttentionBuffers& buffers = *context.attention;
  buffers.split.clear();
  ++buffers.n_split;
  float* partials = buffers.partials;
  int64_t n_parts = 0;
  const int64_t record = attention.partial_floats(layout_.d_v);
  const auto row_floats = [&](const kernels::AttentionTile& tile) {
    return int64_t{tile.row_end - tile.row_begin} * group_ * record;
  };
  for (kernels::AttentionTile tile : buffers.tiles) {
    const kernels::ChunkRange seen = kernels::chunks_seen(args, tile);
    for (tile.head_kv = 0; tile.head_kv < layout_.n_head_kv; ++tile.head_kv) {
      buffers.split.push_back({.tile = tile, .chunks = seen, .first_part = n_parts, .partials = partials});
      n_parts += (seen.end - seen.begin + kPartChunks - 1) / kPartChunks;
      partials += (seen.end - seen.begin) * row_floats(tile);
    }
  }
  context.pool->run(n_parts, [&](int64_t part, int thread) {
    size_t i = buffers.split.size() - 1;
    while (part < buffers.split[i].first_part) --i;
    const SplitTile& split = buffers.split[i];
    const auto first = static_cast<int32_t>((part - split.first_part) * kPartChunks);
    const kernels::ChunkRange range = {split.chunks.begin + first,
                                       std::min(split.chunks.begin + first + kPartChunks, split.chunks.end)};
    attention.attend_chunks(args, split.tile, range, split.partials + first * row_floats(split.tile),
                            context.thread_scratch(thread));
  });
  context.pool->run(static_cast<int64_t>(buffers.split.size()), [&](int64_t i, int thread) {
    const SplitTile& split = buffers.split[static_cast<size_t>(i)];
    attention.merge_chunks(args, split.tile, split.partials, context.thread_scratch(thread));
  });
}

}  // namespace quire::graph
