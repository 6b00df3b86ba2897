#include "graph/cpu/attention_step.h"

#include <algorithm>

namespace quire::graph {
namespace {

// Least chunks of one part: 256 positions are some 10 us of reading, long against handing a part out.
constexpr int32_t kPartChunks = 4;
// Parts per thread of what is divided: enough to balance, few enough that each reads a long stretch.
constexpr int64_t kPartsPerThread = 4;
// Below this many chunks in all, dividing costs more than it balances.
constexpr int64_t kLeastChunks = 16;
// With fewer tiles per thread than these, half the rows balance better than all of them compute; tiles of few
// tokens stay whole.
constexpr int64_t kTilesPerThread = 8;
constexpr int32_t kLeastHalf = 16;
// Records of decoding rows: 32 heads of 128 over 4,000 positions take about 1 MB.
constexpr int64_t kPartialFloatsPerThread = 256 << 10;

}  // namespace

AttentionStep::AttentionStep(const Op& op, const KvBinding& binding, const kernels::KernelTable& kernels)
    : op_(&op),
      layout_(binding.layout),
      attention_(&kernels::attention_kernels(kernels, layout_.form)),
      units_(attention_->head_units(std::get<AttentionAttrs>(op.attrs).n_head, layout_.n_head_kv)) {}

size_t AttentionStep::scratch_bytes() const {
  return (attention_->scratch_bytes(units_.n_heads, layout_.d_k, layout_.d_v) + 63) / 64 * 64;
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
  const int32_t tile_rows = choose_tile_rows(args, context.n_threads);
  // Prompts come after streams, and later rows see more keys: the last go first, so that the last tiles
  // handed out are short ones.
  for (int32_t span = args.n_spans - 1; span >= 0; --span) {
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

int32_t AttentionStep::choose_tile_rows(const kernels::AttentionArgs& args, int n_threads) const {
  const int32_t most = attention_->tile_rows(units_.n_heads, layout_.d_k, layout_.d_v);
  if (n_threads == 1 || most < 2 * kLeastHalf) return most;
  int64_t n_tiles = 0;
  for (int32_t span = 0; span < args.n_spans; ++span) {
    n_tiles += (args.spans[span].row_end - args.spans[span].row_begin + most - 1) / most;
  }
  return n_tiles * units_.count >= kTilesPerThread * n_threads ? most : most / 2;
}

// Where streams are many, a thread takes all units of one at a time: what it reads next is known, so that it
// is fetched in time, and lies near. Beside few, single units balance better.
void AttentionStep::run_whole(const kernels::AttentionArgs& args, const StepContext& context) const {
  const std::vector<kernels::AttentionTile>& tiles = context.attention->tiles;
  const auto n_tiles = static_cast<int64_t>(tiles.size());
  int64_t n_long = n_tiles;  // tiles of which units are handed out; those of one token come last
  const auto is_stream = [](const kernels::AttentionTile& tile) {
    return tile.row_end - tile.row_begin == 1;
  };
  while (n_long > 0 && is_stream(tiles[static_cast<size_t>(n_long - 1)])) --n_long;
  if (n_tiles - n_long < kTilesPerThread * context.n_threads) n_long = n_tiles;

  const int64_t n_units = n_tiles * units_.count;
  const auto tile_of = [&](int64_t unit) {
    kernels::AttentionTile tile = tiles[static_cast<size_t>(unit / units_.count)];
    tile.unit = static_cast<int32_t>(unit % units_.count);
    return tile;
  };
  const auto attend = [&](int64_t unit, int64_t next_unit, int thread) {
    const kernels::AttentionTile next = tile_of(std::min(next_unit, n_units - 1));
    attention_->attend(args, tile_of(unit), next_unit < n_units ? &next : nullptr,
                       context.thread_scratch(thread));
  };
  const int64_t n_single = n_long * units_.count;
  const auto attend_part = [&](int64_t part, int thread) {
    // Threads that keep pace take every n_threads-th part.
    if (part < n_single) return attend(part, part + context.n_threads, thread);
    const int64_t begin = n_single + (part - n_single) * units_.count, end = begin + units_.count;
    for (int64_t unit = begin; unit < end - 1; ++unit) attend(unit, unit + 1, thread);
    attend(end - 1, begin + units_.count * context.n_threads, thread);
  };
  context.pool->run(n_single + n_tiles - n_long, attend_part, HandOut::kSingly);
}

bool AttentionStep::divide(const kernels::AttentionArgs& args, const StepContext& context) const {
  AttentionBuffers& buffers = *context.attention;
  const int64_t n_threads = context.n_threads;
  const auto n_units = static_cast<int64_t>(buffers.tiles.size()) * units_.count;
  if (buffers.n_partials == 0 || n_units > max_split_units(context.n_threads)) return false;
  int64_t n_chunks = 0, longest = 0, n_floats = 0;
  const int64_t record = attention_->partial_floats(layout_.d_v);
  for (const kernels::AttentionTile& tile : buffers.tiles) {
    const kernels::ChunkRange seen = kernels::chunks_seen(args, tile);
    const int64_t chunks = seen.end - seen.begin;
    n_chunks += chunks * units_.count;
    longest = std::max(longest, chunks);
    n_floats += chunks * units_.count * (tile.row_end - tile.row_begin) * units_.n_heads * record;
  }
  // Undivided, some thread works through about this many chunks; an even share would be n_chunks / n_threads.
  const int64_t undivided = std::max(longest, (n_units + n_threads - 1) / n_threads * n_chunks / n_units);
  return n_chunks >= kLeastChunks && n_floats <= buffers.n_partials &&
         undivided * n_threads * 8 > n_chunks * 9;
}

// Tiles that fit beside others into a thread's fair share stay whole, because records that another thread
// merges cost more than they weigh; only the others are cut into parts.
void AttentionStep::run_split(const kernels::AttentionArgs& args, const StepContext& context) const {
  AttentionBuffers& buffers = *context.attention;
  buffers.split.clear();
  ++buffers.n_split;
  int64_t n_chunks = 0;
  for (const kernels::AttentionTile& tile : buffers.tiles) {
    const kernels::ChunkRange seen = kernels::chunks_seen(args, tile);
    n_chunks += int64_t{seen.end - seen.begin} * units_.count;
  }
  const int64_t share = n_chunks / context.n_threads;
  int64_t full_threads = 0, filled = 0, n_divided = 0;
  for (kernels::AttentionTile tile : buffers.tiles) {
    const kernels::ChunkRange seen = kernels::chunks_seen(args, tile);
    const int64_t chunks = seen.end - seen.begin;
    for (tile.unit = 0; tile.unit < units_.count; ++tile.unit) {
      if (chunks <= share && filled + chunks > share) {
        ++full_threads;
        filled = 0;
      }
      const bool whole = chunks <= share && full_threads < context.n_threads;
      (whole ? filled : n_divided) += chunks;
      buffers.split.push_back({.tile = tile, .chunks = seen, .whole = whole});
    }
  }
  // Whole tiles are handed out first: the short parts then even out what is left.
  const auto divided =
      std::partition(buffers.split.begin(), buffers.split.end(), [](const SplitTile& t) { return t.whole; });
  const auto part_chunks =
      static_cast<int32_t>(std::max<int64_t>(kPartChunks, n_divided / (kPartsPerThread * context.n_threads)));
  const int64_t record = attention_->partial_floats(layout_.d_v);
  float* partials = buffers.partials;
  int64_t n_parts = 0;
  for (SplitTile& split : buffers.split) {
    split.first_part = n_parts;
    split.partials = partials;
    const int32_t chunks = split.chunks.end - split.chunks.begin;
    n_parts += split.whole ? 1 : (chunks + part_chunks - 1) / part_chunks;
    if (!split.whole) partials += chunks * row_records(split.tile) * record;
  }
  context.pool->run(n_parts, [&](int64_t part, int thread) {
    size_t i = buffers.split.size() - 1;
    while (part < buffers.split[i].first_part) --i;
    const SplitTile& split = buffers.split[i];
    if (split.whole) return attention_->attend(args, split.tile, nullptr, context.thread_scratch(thread));
    const auto first = static_cast<int32_t>((part - split.first_part) * part_chunks);
    const kernels::ChunkRange range = {split.chunks.begin + first,
                                       std::min(split.chunks.begin + first + part_chunks, split.chunks.end)};
    attention_->attend_chunks(args, split.tile, range,
                              split.partials + first * row_records(split.tile) * record,
                              context.thread_scratch(thread));
  });
  context.pool->run(buffers.split.end() - divided, [&](int64_t i, int thread) {
    const SplitTile& split = divided[i];
    attention_->merge_chunks(args, split.tile, split.partials, context.thread_scratch(thread));
  });
}

}  // namespace quire::graph
