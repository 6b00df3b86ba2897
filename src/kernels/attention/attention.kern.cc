// Attention of one tile: the tile's rows (query tokens x the query heads that share a KV head) walk the
// chunks they see in ascending order, in blocks of rows that share every load of a page.

#include "kernels/attention.h"

#include "kernels/attention/attention_ops.h"
#include "kernels/attention/chunk.h"
#include "kernels/attention/merge.h"
#include "kernels/attention/store_kv.h"
#include "kernels/attention/visibility.h"

namespace quire::kernels::QUIRE_ISA {

// Rows of a tile that a chunk's pages, once in the nearest caches, are used for.
static constexpr int32_t kTileRows = 48;

static int32_t tile_rows(int32_t group, int32_t, int32_t) { return max_int(1, kTileRows / group); }

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// A tile's buffers, one after the other in the caller's scratch; every one starts on a multiple of 64 bytes.
struct TileScratch {
  int64_t ld_q, ld_out;
  float* q;  // [rows, ld_q]
  RunningRows state;
  ChunkPartial partial;
  size_t bytes;
};

static TileScratch lay_out_scratch(std::byte* base, int32_t group, int32_t d_k, int32_t d_v) {
  TileScratch scratch = {};
  size_t used = 0;
  const auto take = [&](int64_t n_floats) {
    float* at = base == nullptr ? nullptr : reinterpret_cast<float*>(base + used);
    used += static_cast<size_t>(round_up(n_floats, kLanes)) * sizeof(float);
    return at;
  };
  const int64_t rows = int64_t{tile_rows(group, d_k, d_v)} * group;
  scratch.ld_q = round_up(d_k, kLanes);
  scratch.ld_out = round_up(d_v, kLanes);
  scratch.q = take(rows * scratch.ld_q);
  scratch.state = {
      .max = take(rows), .sum = take(rows), .out = take(rows * scratch.ld_out), .ld_out = scratch.ld_out};
  scratch.partial.weights = take(kBlockRows * kChunkTokens);
  scratch.partial.out = take(kBlockRows * scratch.ld_out);
  scratch.partial.ld_out = scratch.ld_out;
  scratch.bytes = used;
  return scratch;
}

static size_t scratch_bytes(int32_t group, int32_t d_k, int32_t d_v) {
  return lay_out_scratch(nullptr, group, d_k, d_v).bytes;
}

static void scale_query(const float* q, int32_t d_k, float scale, float* scaled) {
  for (int32_t d = 0; d < d_k; d += kLanes) store(scaled + d, mul(load_partial(q + d, d_k - d), set1(scale)));
}

// Addresses of the pages that hold the chunk's positions `seen`, for one KV head.
static ChunkPages find_pages(const AttentionArgs& args, const int32_t* table, int32_t head_kv, int32_t chunk,
                             Interval seen) {
  ChunkPages pages = {};
  for (int32_t page = seen.begin / kPageTokens; page * kPageTokens < seen.end; ++page) {
    const size_t index = static_cast<size_t>(table[chunk * kPagesPerChunk + page]);
    const std::byte* at = args.pages + index * args.page_stride;
    pages.k[page] = at + args.layout.k_offset(head_kv);
    pages.v[page] = at + args.layout.v_offset(head_kv);
  }
  return pages;
}

template <typename Storage>
static void attend_tile(const AttentionArgs& args, const AttentionTile& tile, std::byte* scratch_base) {
  const int32_t d_k = args.layout.d_k;
  const int32_t d_v = args.layout.d_v;
  const int32_t group = args.n_head / args.layout.n_head_kv;
  const int32_t n_rows = (tile.row_end - tile.row_begin) * group;
  const int32_t first_head = tile.head_kv * group;
  const SequenceSpan& span = args.spans[tile.span];
  TileScratch scratch = lay_out_scratch(scratch_base, group, d_k, d_v);

  for (int32_t row = 0; row < n_rows; ++row) {
    const float* q =
        args.q + int64_t{tile.row_begin + row / group} * args.ld_q + int64_t{first_head + row % group} * d_k;
    scale_query(q, d_k, args.scale, scratch.q + row * scratch.ld_q);
  }
  start_rows(scratch.state, n_rows);

  const auto row_sees = [&](int32_t row) {
    return visible_positions(args.positions[tile.row_begin + row / group], args.window);
  };
  const int32_t first_chunk = row_sees(0).begin / kChunkTokens;
  const int32_t last_chunk = (row_sees(n_rows - 1).end - 1) / kChunkTokens;
  int32_t begin = 0;  // rows [begin, end) see something of the chunk
  for (int32_t chunk = first_chunk; chunk <= last_chunk; ++chunk) {
    const auto sees = [&](int32_t row) { return within_chunk(row_sees(row), chunk); };
    while (sees(begin).end <= 0) begin += group;
    int32_t end = n_rows;
    while (sees(end - 1).end <= sees(end - 1).begin) end -= group;
    const ChunkPages pages =
        find_pages(args, span.table, tile.head_kv, chunk, {sees(begin).begin, sees(end - 1).end});

    const int32_t n_blocks = (end - begin + kBlockRows - 1) / kBlockRows;
    for (int32_t block = 0; block < n_blocks; ++block) {
      // Equal blocks: 32 rows are 6+5+5+6+5+5, not 5 * 6 + 2.
      const int32_t row = begin + (end - begin) * block / n_blocks;
      const int32_t stop = begin + (end - begin) * (block + 1) / n_blocks;
      Interval seen[kBlockRows];
      for (int32_t r = row; r < stop; ++r) seen[r - row] = sees(r);
      const ChunkInput input = {.pages = pages,
                                .q = scratch.q + row * scratch.ld_q,
                                .ld_q = scratch.ld_q,
                                .n_rows = stop - row,
                                .seen = seen,
                                .d_k = d_k,
                                .d_v = d_v,
                                .softcap = args.softcap};
      compute_chunk<Storage>(input, scratch.partial);
      merge_chunk(scratch.state, row, stop - row, scratch.partial);
    }
  }

  for (int32_t row = 0; row < n_rows; ++row) {
    const int32_t head = first_head + row % group;
    if (args.sinks != nullptr) merge_sink(scratch.state, row, args.sinks[head]);
    write_row(scratch.state, row, d_v,
              args.out + int64_t{tile.row_begin + row / group} * args.ld_out + int64_t{head} * d_v);
  }
}

static void store_kv(const StoreKvArgs& args, int64_t row_begin, int64_t row_end) {
  switch (args.layout.type) {
    case KvType::kF32:
      return store_rows<StorageF32>(args, row_begin, row_end);
    case KvType::kF16:
      return store_rows<StorageF16>(args, row_begin, row_end);
    case KvType::kBF16:
      return store_rows<StorageBF16>(args, row_begin, row_end);
  }
}

static void attend(const AttentionArgs& args, const AttentionTile& tile, std::byte* scratch) {
  switch (args.layout.type) {
    case KvType::kF32:
      return attend_tile<StorageF32>(args, tile, scratch);
    case KvType::kF16:
      return attend_tile<StorageF16>(args, tile, scratch);
    case KvType::kBF16:
      return attend_tile<StorageBF16>(args, tile, scratch);
  }
}

AttentionOps attention_ops() {
  return {.store_kv = store_kv, .tile_rows = tile_rows, .scratch_bytes = scratch_bytes, .attend = attend};
}

}  // namespace quire::kernels::QUIRE_ISA
