#include "attention_case.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "tensor/element_type.h"

namespace quire::kernels {

Inputs make_inputs(const Case& c) {
  std::mt19937 random(static_cast<uint32_t>(c.d_k * 1000 + c.d_v * 10 + c.group));
  std::normal_distribution<float> normal;
  const auto draw = [&](int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = normal(random);
    return values;
  };
  Inputs in;
  in.q = draw(int64_t{c.n_tokens} * c.n_head() * c.d_k);
  in.k = draw(int64_t{c.n_tokens} * c.n_head_kv * c.d_k);
  in.v = draw(int64_t{c.n_tokens} * c.n_head_kv * c.d_v);
  if (c.form == KvForm::kLatent) {
    for (int32_t p = 0; p < c.n_tokens; ++p) {
      std::copy_n(in.k.begin() + int64_t{p} * c.d_k, c.d_v, in.v.begin() + int64_t{p} * c.d_v);
    }
  }
  if (c.sinks) in.sinks = draw(c.n_head());
  return in;
}

PagedSequence::PagedSequence(const Case& c, const RunOptions& options)
    : layout(c.layout()), page_stride(layout.page_bytes() + options.gap_bytes) {
  const int32_t n_pages = (c.n_tokens + kPageTokens - 1) / kPageTokens;
  table.resize(static_cast<size_t>(n_pages));
  int32_t pool_pages = n_pages;
  for (int32_t i = 0; i < n_pages; ++i) {
    switch (options.order) {
      case PageOrder::kAscending:
        table[static_cast<size_t>(i)] = i;
        break;
      case PageOrder::kReversed:
        table[static_cast<size_t>(i)] = n_pages - 1 - i;
        break;
      case PageOrder::kScattered:
        table[static_cast<size_t>(i)] = 2 * i + 1;
        break;
    }
  }
  if (options.order == PageOrder::kScattered) {
    pool_pages = 2 * n_pages + 1;
    std::shuffle(table.begin(), table.end(), std::mt19937(7));
  }
  pages.assign(static_cast<size_t>(pool_pages) * page_stride, std::byte{options.fill});
}

int64_t PagedSequence::slot(int32_t position) const {
  return int64_t{table[static_cast<size_t>(position / kPageTokens)]} * kPageTokens + position % kPageTokens;
}

void PagedSequence::store(const AttentionOps& ops, const Case& c, const Inputs& in, int32_t begin,
                          int32_t end) {
  std::vector<int64_t> slots;
  for (int32_t p = begin; p < end; ++p) slots.push_back(slot(p));
  const int64_t ld_k = int64_t{c.n_head_kv} * c.d_k;
  const int64_t ld_v = int64_t{c.n_head_kv} * c.d_v;
  const StoreKvArgs args = {.layout = layout,
                            .pages = pages.data(),
                            .page_stride = page_stride,
                            .k = in.k.data() + begin * ld_k,
                            .ld_k = ld_k,
                            .v = in.v.data() + begin * ld_v,
                            .ld_v = ld_v,
                            .slots = slots.data()};
  ops.store_kv(args, 0, end - begin);
}

void PagedSequence::attend(const AttentionOps& ops, const Case& c, const Inputs& in, int32_t begin,
                           int32_t end, const RunOptions& options, std::vector<float>& out) const {
  const HeadUnits units = ops.head_units(c.n_head(), c.n_head_kv);
  const int32_t tile_rows =
      options.tile_rows == 0 ? ops.tile_rows(units.n_heads, c.d_k, c.d_v) : options.tile_rows;
  std::vector<int32_t> positions;
  for (int32_t p = begin; p < end; ++p) positions.push_back(p);
  const SequenceSpan span = {.row_begin = 0, .row_end = end - begin, .table = table.data()};
  const int64_t ld_q = int64_t{c.n_head()} * c.d_k;
  const int64_t ld_out = int64_t{c.n_head()} * c.d_v;
  const AttentionArgs args = {.layout = layout,
                              .pages = pages.data(),
                              .page_stride = page_stride,
                              .q = in.q.data() + begin * ld_q,
                              .ld_q = ld_q,
                              .out = out.data() + begin * ld_out,
                              .ld_out = ld_out,
                              .n_head = c.n_head(),
                              .scale = c.scale(),
                              .softcap = c.softcap,
                              .window = c.window,
                              .sinks = in.sinks.empty() ? nullptr : in.sinks.data(),
                              .spans = &span,
                              .n_spans = 1,
                              .positions = positions.data()};
  // Exactly the promised bytes, so that a sanitizer sees any step outside them; dirty, as reused scratch is.
  const size_t bytes = ops.scratch_bytes(units.n_heads, c.d_k, c.d_v);
  const std::unique_ptr<std::byte, decltype(&std::free)> scratch(
      static_cast<std::byte*>(std::aligned_alloc(64, bytes)), &std::free);
  std::memset(scratch.get(), 0xff, bytes);
  for (int32_t unit = 0; unit < units.count; ++unit) {
    for (int32_t row = 0; row < end - begin; row += tile_rows) {
      const AttentionTile tile = {
          .span = 0, .row_begin = row, .row_end = std::min(row + tile_rows, end - begin), .unit = unit};
      if (options.part_chunks == 0) {
        const AttentionTile* next = row == 0 ? &tile : nullptr;
        ops.attend(args, tile, next, scratch.get());
        continue;
      }
      const ChunkRange seen = chunks_seen(args, tile);
      const int64_t chunk_floats =
          int64_t{tile.row_end - tile.row_begin} * units.n_heads * ops.partial_floats(c.d_v);
      std::vector<float> partials(static_cast<size_t>((seen.end - seen.begin) * chunk_floats), NAN);
      for (int32_t chunk = seen.begin; chunk < seen.end; chunk += options.part_chunks) {
        const ChunkRange part = {chunk, std::min(chunk + options.part_chunks, seen.end)};
        ops.attend_chunks(args, tile, part, partials.data() + (chunk - seen.begin) * chunk_floats,
                          scratch.get());
      }
      ops.merge_chunks(args, tile, partials.data(), scratch.get());
    }
  }
}

void PagedSequence::fill_position(int32_t position, uint8_t byte) {
  const size_t element = layout.element_bytes();
  const size_t token = static_cast<size_t>(position % kPageTokens);
  std::byte* page = pages.data() + static_cast<size_t>(slot(position) / kPageTokens) * page_stride;
  if (layout.form == KvForm::kLatent) {
    const size_t row_bytes = static_cast<size_t>(layout.d_k) * element;
    std::memset(page + token * row_bytes, byte, row_bytes);
    return;
  }
  for (int32_t head = 0; head < layout.n_head_kv; ++head) {
    for (size_t d = 0; d < static_cast<size_t>(layout.d_k); ++d) {
      std::memset(page + layout.k_offset(head) + (d * kPageTokens + token) * element, byte, element);
    }
    const size_t row_bytes = static_cast<size_t>(layout.d_v) * element;
    std::memset(page + layout.v_offset(head) + token * row_bytes, byte, row_bytes);
  }
}

std::vector<float> run_attention(const AttentionOps& ops, const Case& c, const Inputs& in,
                                 const RunOptions& options) {
  PagedSequence sequence(c, options);
  std::vector<float> out(static_cast<size_t>(c.n_tokens) * static_cast<size_t>(c.n_head() * c.d_v));
  size_t piece = 0;
  for (int32_t begin = 0; begin < c.n_tokens;) {
    const int32_t end =
        std::min(c.n_tokens, begin + options.pieces[std::min(piece++, options.pieces.size() - 1)]);
    sequence.store(ops, c, in, begin, end);
    sequence.attend(ops, c, in, begin, end, options, out);
    begin = end;
  }
  return out;
}

float rounded_to(KvType type, float value) {
  if (type == KvType::kF32) return value;
  const ElementTypeInfo& info =
      element_type_info(type == KvType::kF16 ? ElementType::kF16 : ElementType::kBF16);
  std::byte stored[2];
  float rounded;
  info.encode(&value, stored, 1);
  info.decode(stored, &rounded, 1);
  return rounded;
}

const char* kv_type_name(KvType type) {
  switch (type) {
    case KvType::kF32:
      return "f32";
    case KvType::kF16:
      return "f16";
    case KvType::kBF16:
      return "bf16";
  }
  return "";
}

}  // namespace quire::kernels
