// Attention of one tile: the tile's rows (query tokens x the query heads that share a KV head) walk the
// chunks they see in ascending order, in blocks of rows that share every load of a page.

#include "kernels/attention.h"

#include "kernels/attention/attention_ops.h"
#include "kernels/attention/chunk.h"
#include "kernels/attention/merge.h"
#include "kernels/attention/scratch.h"
#include "kernels/attention/store_kv.h"
#include "kernels/attention/unpack.h"
#include "kernels/attention/visibility.h"

namespace quire::kernels::QUIRE_ISA {

// Rows of a tile: what one conversion of a chunk's pages serves. Their queries and sums have to stay in the
// second-level cache.
static constexpr int32_t kTileRows = 192;
static constexpr int32_t kTileFloats = kTileRows * 256;

static int32_t tile_rows(int32_t group, int32_t d_k, int32_t d_v) {
  return max_int(1, min_int(kTileRows, kTileFloats / (d_k + d_v)) / group);
}

static HeadUnits head_units(int32_t n_head, int32_t n_head_kv) { return {n_head_kv, n_head / n_head_kv}; }

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

// A tile's buffers, one after the other in the caller's scratch; every one starts on a multiple of 64 bytes.
struct TileScratch {
  int64_t ld_q, ld_out;
  float* q;  // [rows, ld_q]
  RunningRows state;
  float* weights;  // [kBlockRows, kChunkTokens]
  UnpackedChunk unpacked;
  size_t bytes;
};

static TileScratch lay_out_scratch(std::byte* base, int32_t group, int32_t d_k, int32_t d_v) {
  TileScratch scratch = {};
  ScratchCutter cutter(base);
  const int64_t rows = int64_t{tile_rows(group, d_k, d_v)} * group;
  scratch.ld_q = round_up(d_k, kLanes);
  scratch.ld_out = round_up(d_v, kLanes);
  scratch.q = cutter.take(rows * scratch.ld_q);
  scratch.state = {.max = cutter.take(rows),
                   .sum = cutter.take(rows),
                   .out = cutter.take(rows * scratch.ld_out),
                   .ld_out = scratch.ld_out};
  scratch.weights = cutter.take(kBlockRows * kChunkTokens);
  scratch.unpacked = {.k = cutter.take(int64_t{d_k} * kChunkTokens),
                      .v = cutter.take(int64_t{d_v} * kChunkTokens)};
  scratch.bytes = cutter.bytes();
  return scratch;
}

static size_t scratch_bytes(int32_t group, int32_t d_k, int32_t d_v) {
  return lay_out_scratch(nullptr, group, d_k, d_v).bytes;
}

// The rows of a tile: query tokens x the query heads that share its KV head, tokens outermost.
struct TileRows {
  const AttentionArgs& args;
  const AttentionTile& tile;
  int32_t d_k = args.layout.d_k;
  int32_t d_v = args.layout.d_v;
  int32_t group = args.n_head / args.layout.n_head_kv;
  int32_t count = (tile.row_end - tile.row_begin) * group;

  int32_t head(int32_t row) const { return tile.unit * group + row % group; }
  int64_t token(int32_t row) const { return tile.row_begin + row / group; }
  const float* q(int32_t row) const { return args.q + token(row) * args.ld_q + int64_t{head(row)} * d_k; }
  float* out(int32_t row) const { return args.out + token(row) * args.ld_out + int64_t{head(row)} * d_v; }
  Interval sees(int32_t row, int32_t chunk) const { return token_sees(row / group, chunk); }
  Interval token_sees(int32_t token_of_tile, int32_t chunk) const {
    const int32_t position = args.positions[tile.row_begin + token_of_tile];
    return within_chunk(visible_positions(position, args.window), chunk);
  }
};

// What the rows [row, row + n_rows) see of a chunk.
struct BlockSight {
  Interval seen[kBlockRows];
};
static BlockSight block_sight(const TileRows& rows, int32_t chunk, int32_t row, int32_t n_rows) {
  BlockSight sight;
  int32_t token = row / rows.group;
  int32_t left = (token + 1) * rows.group - row;  // rows of the token
  for (int32_t r = 0; r < n_rows; ++r) {
    sight.seen[r] = rows.token_sees(token, chunk);
    if (--left > 0) continue;
    ++token;
    left = rows.group;
  }
  return sight;
}

// The pages of `chunk` that rows from `first_row` on see.
static ChunkPages pages_of_rows(const TileRows& rows, int32_t chunk, int32_t first_row) {
  const Interval seen = {rows.sees(first_row, chunk).begin, rows.sees(rows.count - 1, chunk).end};
  return find_pages(rows.args, rows.args.spans[rows.tile.span].table, rows.tile.unit, chunk, seen);
}

// What is read after `chunk`: the next one, or what the tile after this one starts with. Where a page has no
// successor, that of `instead`.
static ChunkPages pages_ahead(const TileRows& rows, int32_t chunk, int32_t end_chunk, int32_t first_row,
                              const AttentionTile* next, const ChunkPages& instead) {
  ChunkPages pages = {};
  if (chunk + 1 < end_chunk) {
    pages = pages_of_rows(rows, chunk + 1, first_row);
  } else if (next != nullptr) {
    pages = pages_of_rows(TileRows{rows.args, *next}, chunks_seen(rows.args, *next).begin, 0);
  }
  for (int page = 0; page < kPagesPerChunk; ++page) {
    if (pages.k[page] != nullptr) continue;
    pages.k[page] = instead.k[page];
    pages.v[page] = instead.v[page];
  }
  return pages;
}

// Calls visit(chunk, row, input, storage) for every block of rows that sees something of a chunk, chunks
// ascending; `row` is the block's first and `storage` says how the input's pages hold their values.
template <typename Storage, typename Visit>
static void for_each_block(const TileRows& rows, ChunkRange range, const AttentionTile* next,
                           const TileScratch& scratch, const Visit& visit) {
  for (int32_t row = 0; row < rows.count; ++row) {
    scale_query(rows.q(row), rows.d_k, rows.args.scale, scratch.q + row * scratch.ld_q);
  }
  const int32_t* table = rows.args.spans[rows.tile.span].table;
  int32_t begin = 0;  // rows [begin, end) see something of the chunk
  for (int32_t chunk = range.begin; chunk < range.end; ++chunk) {
    while (rows.sees(begin, chunk).end <= 0) begin += rows.group;
    int32_t end = rows.count;
    while (is_empty(rows.sees(end - 1, chunk))) end -= rows.group;
    const Interval seen_by_any = {rows.sees(begin, chunk).begin, rows.sees(end - 1, chunk).end};
    const ChunkPages pages = find_pages(rows.args, table, rows.tile.unit, chunk, seen_by_any);
    ChunkInput input = {.pages = pages,
                        .ahead = pages_ahead(rows, chunk, range.end, begin, next, pages),
                        .q = nullptr,
                        .ld_q = scratch.ld_q,
                        .n_rows = 0,
                        .seen = nullptr,
                        .d_k = rows.d_k,
                        .d_v = rows.d_v,
                        .softcap = rows.args.softcap};
    const int32_t n_blocks = (end - begin + kBlockRows - 1) / kBlockRows;
    const bool unpacked = Storage::kBytes != StorageF32::kBytes && n_blocks >= kUnpackBlocks;
    if (unpacked) input.pages = unpack_chunk<Storage>(pages, rows.d_k, rows.d_v, scratch.unpacked);
    for (int32_t block = 0; block < n_blocks; ++block) {
      // Equal blocks: 32 rows are 6+5+5+6+5+5, not 5 * 6 + 2.
      const int32_t row = begin + (end - begin) * block / n_blocks;
      const int32_t stop = begin + (end - begin) * (block + 1) / n_blocks;
      const BlockSight sight = block_sight(rows, chunk, row, stop - row);
      input.q = scratch.q + row * scratch.ld_q;
      input.n_rows = stop - row;
      input.seen = sight.seen;
      if (unpacked) {
        fetch_part(input.ahead, rows.args.layout, block, n_blocks);
        visit(chunk, row, input, StorageNear());
      } else {
        visit(chunk, row, input, Storage());
      }
    }
  }
}

static void finish_rows(const TileRows& rows, const RunningRows& state) {
  for (int32_t row = 0; row < rows.count; ++row) {
    if (rows.args.sinks != nullptr) merge_sink(state, row, rows.args.sinks[rows.head(row)]);
    write_row(state, row, rows.d_v, rows.out(row));
  }
}

template <typename Storage>
static void attend_chunk_range(const AttentionArgs& args, const AttentionTile& tile, ChunkRange range,
                               float* partials, std::byte* scratch_base) {
  const TileRows rows = {args, tile};
  TileScratch scratch = lay_out_scratch(scratch_base, rows.group, rows.d_k, rows.d_v);
  const int64_t size = record_floats(rows.d_v);
  for_each_block<Storage>(rows, range, nullptr, scratch,
                          [&]<typename Values>(int32_t chunk, int32_t row, const ChunkInput& input, Values) {
                            float* records =
                                partials + (int64_t{chunk - range.begin} * rows.count + row) * size;
                            const MaxAndSum softmax = weigh_chunk<Values>(input, scratch.weights);
                            sum_chunk<Values>(input, scratch.weights,
                                              {.out = records + kLanes, .ld_out = size, .merge = nullptr});
                            float max[kLanes], sum[kLanes];
                            store(max, softmax.max);
                            store(sum, softmax.sum);
                            for (int32_t r = 0; r < input.n_rows; ++r) {
                              records[r * size] = max[r];
                              records[r * size + 1] = sum[r];
                            }
                          });
}

template <typename Storage>
static void attend_tile(const AttentionArgs& args, const AttentionTile& tile, const AttentionTile* next,
                        std::byte* scratch_base) {
  const TileRows rows = {args, tile};
  TileScratch scratch = lay_out_scratch(scratch_base, rows.group, rows.d_k, rows.d_v);
  start_rows(scratch.state, rows.count);
  for_each_block<Storage>(
      rows, chunks_seen(args, tile), next, scratch,
      [&]<typename Values>(int32_t, int32_t row, const ChunkInput& input, Values) {
        const MaxAndSum softmax = weigh_chunk<Values>(input, scratch.weights);
        const MergeFactors factors = merge_sums(scratch.state, row, input.n_rows, softmax);
        sum_chunk<Values>(
            input, scratch.weights,
            {.out = scratch.state.out + row * scratch.ld_out, .ld_out = scratch.ld_out, .merge = &factors});
      });
  finish_rows(rows, scratch.state);
}

static void merge_chunks(const AttentionArgs& args, const AttentionTile& tile, const float* partials,
                         std::byte* scratch_base) {
  const TileRows rows = {args, tile};
  const TileScratch scratch = lay_out_scratch(scratch_base, rows.group, rows.d_k, rows.d_v);
  start_rows(scratch.state, rows.count);
  const int64_t size = record_floats(rows.d_v);
  const ChunkRange range = chunks_seen(args, tile);
  for (int32_t row = 0; row < rows.count; ++row) {
    ChunkRange seen = range;
    while (is_empty(rows.sees(row, seen.begin))) ++seen.begin;
    while (is_empty(rows.sees(row, seen.end - 1))) --seen.end;
    for (int32_t chunk = seen.begin; chunk < seen.end; chunk += kLanes) {
      merge_records(scratch.state, row,
                    {.first = partials + (int64_t{chunk - range.begin} * rows.count + row) * size,
                     .stride = rows.count * size,
                     .n = min_int(kLanes, seen.end - chunk)});
    }
  }
  finish_rows(rows, scratch.state);
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

static void attend(const AttentionArgs& args, const AttentionTile& tile, const AttentionTile* next,
                   std::byte* scratch) {
  switch (args.layout.type) {
    case KvType::kF32:
      return attend_tile<StorageF32>(args, tile, next, scratch);
    case KvType::kF16:
      return attend_tile<StorageF16>(args, tile, next, scratch);
    case KvType::kBF16:
      return attend_tile<StorageBF16>(args, tile, next, scratch);
  }
}

static void attend_chunks(const AttentionArgs& args, const AttentionTile& tile, ChunkRange range,
                          float* partials, std::byte* scratch) {
  switch (args.layout.type) {
    case KvType::kF32:
      return attend_chunk_range<StorageF32>(args, tile, range, partials, scratch);
    case KvType::kF16:
      return attend_chunk_range<StorageF16>(args, tile, range, partials, scratch);
    case KvType::kBF16:
      return attend_chunk_range<StorageBF16>(args, tile, range, partials, scratch);
  }
}

AttentionOps attention_ops() {
  return {.store_kv = store_kv,
          .head_units = head_units,
          .tile_rows = tile_rows,
          .scratch_bytes = scratch_bytes,
          .attend = attend,
          .partial_floats = record_floats,
          .attend_chunks = attend_chunks,
          .merge_chunks = merge_chunks};
}

}  // namespace quire::kernels::QUIRE_ISA
