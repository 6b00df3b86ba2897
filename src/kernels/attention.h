// Attention over paged keys and values, and the write of new ones into their pages.
//
// A page holds kPageTokens positions of one layer. Inside a page, for each KV head: K transposed
// [d_k, kPageTokens] (lanes are positions, so scores need no horizontal sum), then, after the K of all heads,
// V [kPageTokens, d_v] per head (lanes are head dimensions). Of latent keys it holds rows [kPageTokens, d_k],
// which all heads share and whose first d_v values are V (lanes are heads then: DeepSeek-AI 2024,
// "DeepSeek-V2", with the projections absorbed). Pages are found through a block table, so they may lie
// anywhere. Memory belongs to the caller.
//
// Numerics (docs/numerics.md): scores and weighted sums are computed per chunk of kChunkTokens positions, cut
// at absolute multiples of it, each chunk from zero (scores: d ascending; P*V: position ascending; sums by
// the fixed 16-lane tree), then merged in ascending order by (max, sum, out). A row merges only chunks in
// which it sees a position. Lanes a row may not see are select-loaded as zero, never multiplied away: a
// reused page may hold Inf or NaN. Decode, chunked prefill, paged and contiguous therefore agree in bits, as
// do all ISAs and thread counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::kernels {

inline constexpr int kPageTokens = 16;
inline constexpr int kChunkTokens = 64;

enum class KvType : uint8_t { kF32, kF16, kBF16 };  // storage; arithmetic is f32 in all three
enum class KvForm : uint8_t { kKeysAndValues, kLatent };

// Kernels are compiled once per ISA: what they share with the rest must leave no out-of-line copy behind.
#define QUIRE_LAYOUT_FN [[gnu::always_inline]] inline

// How one layer's page is laid out; sizes and offsets in bytes.
struct KvLayout {
  KvType type = KvType::kF16;
  KvForm form = KvForm::kKeysAndValues;
  int32_t n_head_kv = 0;  // kLatent: 1
  int32_t d_k = 0;        // key dimension per head, >= 1
  int32_t d_v = 0;        // value dimension per head, >= 1; kLatent: <= d_k
  QUIRE_LAYOUT_FN size_t element_bytes() const { return type == KvType::kF32 ? 4 : 2; }
  QUIRE_LAYOUT_FN size_t k_head_bytes() const {
    return static_cast<size_t>(d_k) * kPageTokens * element_bytes();
  }
  QUIRE_LAYOUT_FN size_t v_head_bytes() const {
    return static_cast<size_t>(d_v) * kPageTokens * element_bytes();
  }
  QUIRE_LAYOUT_FN size_t k_bytes() const { return k_head_bytes() * static_cast<size_t>(n_head_kv); }
  QUIRE_LAYOUT_FN size_t page_bytes() const {
    const size_t v_bytes = form == KvForm::kLatent ? 0 : v_head_bytes();
    return (k_head_bytes() + v_bytes) * static_cast<size_t>(n_head_kv);
  }
  // Where the K (V) of one head starts inside the page; not of latent keys.
  QUIRE_LAYOUT_FN size_t k_offset(int32_t head) const { return k_head_bytes() * static_cast<size_t>(head); }
  QUIRE_LAYOUT_FN size_t v_offset(int32_t head) const {
    return k_bytes() + v_head_bytes() * static_cast<size_t>(head);
  }
};

// Rows [row_begin, row_end) of the step belong to one sequence; row r has absolute position positions[r],
// which ascends by one inside the span. table[p / kPageTokens] is the page that holds position p.
struct SequenceSpan {
  int32_t row_begin = 0, row_end = 0;
  const int32_t* table = nullptr;
};

// Writes K and V of rows [row_begin, row_end) into their pages (rounded to the storage type, to nearest
// even).
struct StoreKvArgs {
  KvLayout layout;
  std::byte* pages;  // page p of this layer starts at pages + p * page_stride
  size_t page_stride;
  const float* k;
  int64_t ld_k;          // [n_rows, n_head_kv, d_k]
  const float* v;        // null where keys are latent
  int64_t ld_v;          // [n_rows, n_head_kv, d_v]
  const int64_t* slots;  // [n_rows] page * kPageTokens + position % kPageTokens; negative = do not store
};

struct AttentionArgs {
  KvLayout layout;
  const std::byte* pages;
  size_t page_stride;
  const float* q;
  int64_t ld_q;  // [n_rows, n_head, d_k]
  float* out;
  int64_t ld_out;      // [n_rows, n_head, d_v]
  int32_t n_head;      // a multiple of n_head_kv; query head h reads KV head h / (n_head / n_head_kv)
  float scale;         // scores = scale * (q . k); q is multiplied by scale once, before the dot
  float softcap;       // > 0: scores = softcap * tanh(scores / softcap)
  int32_t window;      // > 0: a key is hidden when position - key_position >= window
  const float* sinks;  // [n_head] or null: joins max and denominator, adds no value
  const SequenceSpan* spans;
  int32_t n_spans;
  const int32_t* positions;  // [n_rows]
};

// One piece of work: some rows of one span, with the query heads of one unit.
struct AttentionTile {
  int32_t span = 0, row_begin = 0, row_end = 0, unit = 0;
};

// How the query heads are divided: those that share a KV head, or a run of those that all share latent keys.
struct HeadUnits {
  int32_t count = 0;
  int32_t n_heads = 0;  // of a unit; the last one of latent keys may hold fewer
};

// Chunks [begin, end), by number: chunk c holds positions [c * kChunkTokens, (c + 1) * kChunkTokens).
struct ChunkRange {
  int32_t begin = 0, end = 0;
};

// The kernels of one KvForm.
struct AttentionOps {
  void (*store_kv)(const StoreKvArgs& args, int64_t row_begin, int64_t row_end);
  HeadUnits (*head_units)(int32_t n_head, int32_t n_head_kv);
  // Largest number of query tokens one tile should hold for units of n_heads.
  int32_t (*tile_rows)(int32_t n_heads, int32_t d_k, int32_t d_v);
  // Bytes of scratch one thread needs for any tile up to tile_rows, 64-byte aligned.
  size_t (*scratch_bytes)(int32_t n_heads, int32_t d_k, int32_t d_v);
  // `next` is the tile this thread probably attends to afterwards, or null: while the last chunk of `tile` is
  // computed, its first keys and values are fetched. No result depends on it.
  void (*attend)(const AttentionArgs& args, const AttentionTile& tile, const AttentionTile* next,
                 std::byte* scratch);

  // The same in two steps, so that several threads can read one long sequence: attend_chunks computes records
  // of some chunks, merge_chunks adds those of all chunks in ascending order, as attend does. `partials` is
  // [chunks, rows of the tile, partial_floats(d_v)], rows being tokens x heads of a unit.
  // Floats of one row's record; of a tile's rows together a multiple of 16.
  int64_t (*partial_floats)(int32_t d_v);
  // Records of the chunks `range`; `partials` points to those of range.begin.
  void (*attend_chunks)(const AttentionArgs& args, const AttentionTile& tile, ChunkRange range,
                        float* partials, std::byte* scratch);
  // The tile's output from the records of all chunks it sees (chunks_seen); `partials` points to the first.
  void (*merge_chunks)(const AttentionArgs& args, const AttentionTile& tile, const float* partials,
                       std::byte* scratch);
};

// The chunks that rows [row_begin, row_end) of the tile see.
QUIRE_LAYOUT_FN ChunkRange chunks_seen(const AttentionArgs& args, const AttentionTile& tile) {
  const int32_t first = args.positions[tile.row_begin];
  const int32_t oldest = args.window > 0 && first >= args.window ? first - args.window + 1 : 0;
  return {oldest / kChunkTokens, args.positions[tile.row_end - 1] / kChunkTokens + 1};
}
#undef QUIRE_LAYOUT_FN

}  // namespace quire::kernels
