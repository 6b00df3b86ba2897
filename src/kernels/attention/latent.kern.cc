// Latent attention of one tile: the tile's query tokens walk the chunks they see in ascending order, all
// heads of its unit at once (latent_chunk.h). Queries are turned once so that lanes are heads, and answers
// back.

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/attention/attention_ops.h"
#include "kernels/attention/kv_storage.h"
#include "kernels/attention/latent_chunk.h"
#include "kernels/attention/scratch.h"
#include "kernels/attention/store_kv.h"
#include "kernels/attention/transpose.h"
#include "kernels/attention/visibility.h"

namespace quire::kernels::QUIRE_ISA {
static constexpr int32_t kUnitHeads = kHeadVectors * kLanes;
// Tokens x heads of a tile: what one conversion of a chunk's rows serves.
static constexpr int32_t kTileRows = 64;

static int32_t lanes_for(int32_t n_heads) { return (n_heads + kLanes - 1) / kLanes * kLanes; }

static HeadUnits head_units(int32_t n_head, int32_t) {
  return {.count = (n_head + kUnitHeads - 1) / kUnitHeads, .n_heads = min_int(kUnitHeads, lanes_for(n_head))};
}

static int32_t tile_rows(int32_t n_heads, int32_t, int32_t) { return max_int(1, kTileRows / n_heads); }

// What a token has gathered so far, and what it adds of one chunk as a record: max and sum [heads] each, then
// out [d_v, heads].
struct LatentSums {
  float* max;
  float* sum;
  float* out;
};
static int64_t record_floats(int32_t d_v) { return d_v + 2; }  // a head
static LatentSums sums_at(float* record, int32_t n_heads) {
  return {record, record + n_heads, record + 2 * n_heads};
}

// A tile's buffers, one after the other in the caller's scratch, each on a multiple of 64 bytes.
struct LatentScratch {
  float* q;         // [tokens, d_k, heads]
  float* records;   // [tokens, record_floats, heads]
  float* weights;   // [kChunkTokens, heads]
  float* unpacked;  // [kChunkTokens, d_k]
  size_t bytes;
};

static LatentScratch lay_out_scratch(std::byte* base, int32_t n_heads, int32_t d_k, int32_t d_v) {
  ScratchCutter cutter(base);
  const int64_t rows = int64_t{tile_rows(n_heads, d_k, d_v)} * n_heads;
  LatentScratch scratch = {};
  scratch.q = cutter.take(rows * d_k);
  scratch.records = cutter.take(rows * record_floats(d_v));
  scratch.weights = cutter.take(int64_t{kChunkTokens} * n_heads);
  scratch.unpacked = cutter.take(int64_t{kChunkTokens} * d_k);
  scratch.bytes = cutter.bytes();
  return scratch;
}

static size_t scratch_bytes(int32_t n_heads, int32_t d_k, int32_t d_v) {
  return lay_out_scratch(nullptr, n_heads, d_k, d_v).bytes;
}

// The tokens of a tile and the heads of its unit, the last of which may be fewer than lanes.
struct LatentTile {
  const AttentionArgs& args;
  const AttentionTile& tile;
  int32_t d_k = args.layout.d_k;
  int32_t d_v = args.layout.d_v;
  int32_t n_tokens = tile.row_end - tile.row_begin;
  int32_t first_head = tile.unit * kUnitHeads;
  int32_t n_heads = min_int(kUnitHeads, args.n_head - first_head);
  int32_t unit_heads = head_units(args.n_head, 1).n_heads;  // apart in scratch and in records

  const float* q(int32_t token, int32_t head) const {
    return args.q + (tile.row_begin + token) * args.ld_q + int64_t{first_head + head} * d_k;
  }
  float* out(int32_t token, int32_t head) const {
    return args.out + (tile.row_begin + token) * args.ld_out + int64_t{first_head + head} * d_v;
  }
  int64_t record(int32_t token) const { return int64_t{token} * unit_heads * record_floats(d_v); }
  Interval sees(int32_t token, int32_t chunk) const {
    return within_chunk(visible_positions(args.positions[tile.row_begin + token], args.window), chunk);
  }
};

// q [heads, d_k] of a token, times scale, to [d_k, kVectors * kLanes]; heads past the end are zero.
template <int kVectors>
static void turn_query(const LatentTile& t, int32_t token, float* turned) {
  const F32 scale = set1(t.args.scale);
  for (int v = 0; v < kVectors; ++v) {
    for (int32_t d = 0; d < t.d_k; d += kLanes) {
      F32 block[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        const int32_t head = v * kLanes + i;
        block[i] = head < t.n_heads ? mul(load_partial(t.q(token, head) + d, t.d_k - d), scale) : zero();
      }
      transpose16(block);
      for (int i = 0; i < kLanes && d + i < t.d_k; ++i) {
        store(turned + (int64_t{d + i} * kVectors + v) * kLanes, block[i]);
      }
    }
  }
}

// out / sum of a token, back to [heads, d_v].
template <int kVectors>
static void write_token(const LatentTile& t, int32_t token, const LatentSums& sums) {
  for (int v = 0; v < kVectors; ++v) {
    const F32 sum = load(sums.sum + v * kLanes);
    for (int32_t d = 0; d < t.d_v; d += kLanes) {
      F32 block[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        const bool inside = d + i < t.d_v;
        block[i] = inside ? div(load(sums.out + (int64_t{d + i} * kVectors + v) * kLanes), sum) : zero();
      }
      transpose16(block);
      for (int i = 0; i < kLanes && v * kLanes + i < t.n_heads; ++i) {
        store_partial(t.out(token, v * kLanes + i) + d, block[i], t.d_v - d);
      }
    }
  }
}

template <int kVectors>
static void start_token(const LatentTile& t, const LatentSums& sums) {
  for (int v = 0; v < kVectors; ++v) {
    store(sums.max + v * kLanes, set1(-__builtin_inff()));
    store(sums.sum + v * kLanes, zero());
  }
  for (int64_t i = 0; i < int64_t{t.d_v} * kVectors; ++i) store(sums.out + i * kLanes, zero());
}

// Merges max and sum of a chunk into the running ones; the caller does the same with out (as merge_sums).
template <int kVectors>
static LatentOutput<kVectors> merge_token(const LatentSums& running, const F32* max_score, const F32* sum) {
  LatentOutput<kVectors> to = {.out = running.out, .merge = true, .keep = {}, .take = {}};
  for (int v = 0; v < kVectors; ++v) {
    const F32 before = load(running.max + v * kLanes);
    const F32 both = max(before, max_score[v]);
    to.keep[v] = exp(sub(before, exp_shift(both)));
    to.take[v] = exp(sub(max_score[v], exp_shift(both)));
    float* total = running.sum + v * kLanes;
    store(total, mul_add(load(total), to.keep[v], mul(sum[v], to.take[v])));
    store(running.max + v * kLanes, both);
  }
  return to;
}

// Adds the sinks, one more score a head that takes part in max and sum and carries no value.
template <int kVectors>
static void merge_sinks(const LatentTile& t, const LatentSums& running) {
  for (int v = 0; v < kVectors; ++v) {
    const F32 sink = load_partial(t.args.sinks + t.first_head + v * kLanes, t.n_heads - v * kLanes);
    const F32 before = load(running.max + v * kLanes);
    const F32 shift = exp_shift(max(before, sink));
    const F32 keep = exp(sub(before, shift));
    float* total = running.sum + v * kLanes;
    store(total, mul_add(load(total), keep, exp(sub(sink, shift))));
    for (int32_t d = 0; d < t.d_v; ++d) {
      float* out = running.out + (int64_t{d} * kVectors + v) * kLanes;
      store(out, mul(load(out), keep));
    }
  }
}

template <int kVectors>
static void finish_token(const LatentTile& t, int32_t token, const LatentSums& running) {
  if (t.args.sinks != nullptr) merge_sinks<kVectors>(t, running);
  write_token<kVectors>(t, token, running);
}

// Calls fn<vectors of the unit's heads>().
template <typename Fn>
QUIRE_VEC_FN void with_vectors(const LatentTile& t, const Fn& fn) {
  if constexpr (kHeadVectors == 1) {
    fn.template operator()<1>();
  } else {
    t.unit_heads == kLanes ? fn.template operator()<1>() : fn.template operator()<2>();
  }
}

// The rows of the chunk that some token sees, as f32.
template <typename Storage>
static LatentPages find_rows(const LatentTile& t, int32_t chunk, float* unpacked) {
  LatentPages in = {.page = {}, .d_k = t.d_k, .d_v = t.d_v};
  const int32_t* table = t.args.spans[t.tile.span].table;
  const int64_t page_floats = int64_t{kPageTokens} * t.d_k;
  const Interval seen = {t.sees(0, chunk).begin, t.sees(t.n_tokens - 1, chunk).end};
  for (int32_t page = seen.begin / kPageTokens; page * kPageTokens < seen.end; ++page) {
    const auto index = static_cast<size_t>(table[chunk * kPagesPerChunk + page]);
    const std::byte* at = t.args.pages + index * t.args.page_stride;
    const std::byte* rows = Storage::kBytes == sizeof(float)
                                ? at
                                : unpack<Storage>(at, page_floats, unpacked + page * page_floats);
    in.page[page] = reinterpret_cast<const float*>(rows);
  }
  return in;
}

// Calls visit(chunk, rows of the chunk, token, what it sees of them), chunks ascending.
template <typename Storage, typename Visit>
static void for_each_token(const LatentTile& t, ChunkRange range, const LatentScratch& scratch,
                           const Visit& visit) {
  for (int32_t chunk = range.begin; chunk < range.end; ++chunk) {
    const LatentPages in = find_rows<Storage>(t, chunk, scratch.unpacked);
    for (int32_t token = 0; token < t.n_tokens; ++token) {
      const Interval seen = t.sees(token, chunk);
      if (!is_empty(seen)) visit(chunk, in, token, seen);
    }
  }
}

template <int kVectors>
static void turn_queries(const LatentTile& t, const LatentScratch& scratch) {
  for (int32_t token = 0; token < t.n_tokens; ++token) {
    turn_query<kVectors>(t, token, scratch.q + int64_t{token} * t.d_k * kVectors * kLanes);
  }
}

template <typename Storage, int kVectors>
static void attend_tile(const LatentTile& t, const LatentScratch& scratch) {
  constexpr int kHeads = kVectors * kLanes;
  turn_queries<kVectors>(t, scratch);
  const auto sums_of = [&](int32_t token) { return sums_at(scratch.records + t.record(token), kHeads); };
  for (int32_t token = 0; token < t.n_tokens; ++token) start_token<kVectors>(t, sums_of(token));
  LatentWeights weights = {.weights = scratch.weights, .max = {}, .sum = {}};
  for_each_token<Storage>(t, chunks_seen(t.args, t.tile), scratch,
                          [&](int32_t, const LatentPages& in, int32_t token, Interval seen) {
                            weigh_latent<kVectors>(in, seen, scratch.q + int64_t{token} * t.d_k * kHeads,
                                                   t.args.softcap, weights);
                            const LatentOutput<kVectors> to =
                                merge_token<kVectors>(sums_of(token), weights.max, weights.sum);
                            sum_latent<kVectors>(in, seen, weights.weights, to);
                          });
  for (int32_t token = 0; token < t.n_tokens; ++token) finish_token<kVectors>(t, token, sums_of(token));
}

// Records lie [chunks, tokens].
template <typename Storage, int kVectors>
static void attend_chunk_range(const LatentTile& t, ChunkRange range, float* partials,
                               const LatentScratch& scratch) {
  constexpr int kHeads = kVectors * kLanes;
  turn_queries<kVectors>(t, scratch);
  LatentWeights weights = {.weights = scratch.weights, .max = {}, .sum = {}};
  for_each_token<Storage>(
      t, range, scratch, [&](int32_t chunk, const LatentPages& in, int32_t token, Interval seen) {
        const LatentSums record =
            sums_at(partials + (chunk - range.begin) * t.record(t.n_tokens) + t.record(token), kHeads);
        weigh_latent<kVectors>(in, seen, scratch.q + int64_t{token} * t.d_k * kHeads, t.args.softcap,
                               weights);
        sum_latent<kVectors>(in, seen, weights.weights,
                             {.out = record.out, .merge = false, .keep = {}, .take = {}});
        for (int v = 0; v < kVectors; ++v) {
          store(record.max + v * kLanes, weights.max[v]);
          store(record.sum + v * kLanes, weights.sum[v]);
        }
      });
}

template <int kVectors>
static void merge_records(const LatentTile& t, const float* partials, const LatentScratch& scratch) {
  constexpr int kHeads = kVectors * kLanes;
  const ChunkRange range = chunks_seen(t.args, t.tile);
  for (int32_t token = 0; token < t.n_tokens; ++token) {
    const LatentSums running = sums_at(scratch.records, kHeads);
    start_token<kVectors>(t, running);
    for (int32_t chunk = range.begin; chunk < range.end; ++chunk) {
      if (is_empty(t.sees(token, chunk))) continue;
      const float* record = partials + (chunk - range.begin) * t.record(t.n_tokens) + t.record(token);
      F32 max_score[kVectors], sum[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        max_score[v] = load(record + v * kLanes);
        sum[v] = load(record + kHeads + v * kLanes);
      }
      const LatentOutput<kVectors> to = merge_token<kVectors>(running, max_score, sum);
      const float* part = record + 2 * kHeads;
      for (int64_t d = 0; d < t.d_v; ++d) {
        for (int v = 0; v < kVectors; ++v) {
          const int64_t at = (d * kVectors + v) * kLanes;
          store(to.out + at, mul_add(load(to.out + at), to.keep[v], mul(load(part + at), to.take[v])));
        }
      }
    }
    finish_token<kVectors>(t, token, running);
  }
}

// Calls fn<storage, vectors>().
template <typename Fn>
static void with_storage(const LatentTile& t, const Fn& fn) {
  with_vectors(t, [&]<int kVectors>() {
    switch (t.args.layout.type) {
      case KvType::kF32:
        return fn.template operator()<StorageF32, kVectors>();
      case KvType::kF16:
        return fn.template operator()<StorageF16, kVectors>();
      case KvType::kBF16:
        return fn.template operator()<StorageBF16, kVectors>();
    }
  });
}

static LatentScratch scratch_of(const LatentTile& t, std::byte* base) {
  return lay_out_scratch(base, t.unit_heads, t.d_k, t.d_v);
}

static void attend(const AttentionArgs& args, const AttentionTile& tile, const AttentionTile* /*next*/,
                   std::byte* scratch) {
  const LatentTile t = {args, tile};
  with_storage(t, [&]<typename Storage, int kVectors>() {
    attend_tile<Storage, kVectors>(t, scratch_of(t, scratch));
  });
}

static void attend_chunks(const AttentionArgs& args, const AttentionTile& tile, ChunkRange range,
                          float* partials, std::byte* scratch) {
  const LatentTile t = {args, tile};
  with_storage(t, [&]<typename Storage, int kVectors>() {
    attend_chunk_range<Storage, kVectors>(t, range, partials, scratch_of(t, scratch));
  });
}

static void merge_chunks(const AttentionArgs& args, const AttentionTile& tile, const float* partials,
                         std::byte* scratch) {
  const LatentTile t = {args, tile};
  with_vectors(t, [&]<int kVectors>() { merge_records<kVectors>(t, partials, scratch_of(t, scratch)); });
}

template <typename Storage>
static void store_latent(const StoreKvArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const int64_t slot = args.slots[row];
    if (slot < 0) continue;
    store_value<Storage>(args.k + row * args.ld_k, args.layout.d_k, static_cast<int32_t>(slot % kPageTokens),
                         args.pages + static_cast<size_t>(slot / kPageTokens) * args.page_stride);
  }
}

static void store_kv(const StoreKvArgs& args, int64_t row_begin, int64_t row_end) {
  switch (args.layout.type) {
    case KvType::kF32:
      return store_latent<StorageF32>(args, row_begin, row_end);
    case KvType::kF16:
      return store_latent<StorageF16>(args, row_begin, row_end);
    case KvType::kBF16:
      return store_latent<StorageBF16>(args, row_begin, row_end);
  }
}

AttentionOps latent_attention_ops() {
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
