// Attention of the last rows of a prompt, per cell: every instruction set, head dimension and context, keys
// and values in f16. One thread: how tiles are shared out is the executor's business.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/memory_region.h"
#include "cells.h"
#include "kernels/kernel_table.h"
#include "limits.h"

namespace quire::bench {
namespace {

using namespace kernels;

struct Cell {
  Isa isa;
  int32_t head_dim, n_head, n_head_kv;
  int32_t n_rows, context;
};

std::vector<float> values(size_t n) {
  std::vector<float> result(n);
  for (size_t i = 0; i < n; ++i) result[i] = static_cast<float>(i * 7919 % 2001) * 1e-3f - 1;
  return result;
}

// Keys and values of a whole context in pages that lie in reverse order.
struct Pages {
  explicit Pages(const Cell& cell, const AttentionOps& ops)
      : layout{.n_head_kv = cell.n_head_kv, .d_k = cell.head_dim, .d_v = cell.head_dim},
        table(static_cast<size_t>((cell.context + kPageTokens - 1) / kPageTokens)),
        memory(table.size() * layout.page_bytes()) {
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int32_t>(table.size() - 1 - i);
    const int64_t ld = int64_t{cell.n_head_kv} * cell.head_dim;
    const std::vector<float> rows = values(static_cast<size_t>(cell.context * ld));
    std::vector<int64_t> slots;
    for (int32_t p = 0; p < cell.context; ++p) {
      const int64_t page = table[static_cast<size_t>(p / kPageTokens)];
      slots.push_back(page * kPageTokens + p % kPageTokens);
    }
    ops.store_kv({.layout = layout,
                  .pages = memory.data(),
                  .page_stride = layout.page_bytes(),
                  .k = rows.data(),
                  .ld_k = ld,
                  .v = rows.data(),
                  .ld_v = ld,
                  .slots = slots.data()},
                 0, cell.context);
  }

  KvLayout layout;
  std::vector<int32_t> table;
  std::vector<std::byte> memory;
};

void run_cell(benchmark::State& state, const Cell& cell) {
  const AttentionOps& ops = kernel_table(cell.isa).attention;
  const Pages pages(cell, ops);
  const int64_t ld = int64_t{cell.n_head} * cell.head_dim;
  const std::vector<float> q = values(static_cast<size_t>(cell.n_rows * ld));
  std::vector<float> out(q.size());
  std::vector<int32_t> positions;
  double seen = 0;
  for (int32_t p = cell.context - cell.n_rows; p < cell.context; ++p) {
    positions.push_back(p);
    seen += p + 1;
  }
  const SequenceSpan span = {.row_begin = 0, .row_end = cell.n_rows, .table = pages.table.data()};
  const AttentionArgs args = {.layout = pages.layout,
                              .pages = pages.memory.data(),
                              .page_stride = pages.layout.page_bytes(),
                              .q = q.data(),
                              .ld_q = ld,
                              .out = out.data(),
                              .ld_out = ld,
                              .n_head = cell.n_head,
                              .scale = 1 / std::sqrt(static_cast<float>(cell.head_dim)),
                              .softcap = 0,
                              .window = 0,
                              .sinks = nullptr,
                              .spans = &span,
                              .n_spans = 1,
                              .positions = positions.data()};
  const HeadUnits units = ops.head_units(cell.n_head, cell.n_head_kv);
  const int32_t tile_rows = ops.tile_rows(units.n_heads, cell.head_dim, cell.head_dim);
  Result<MemoryRegion> scratch =
      MemoryRegion::allocate(ops.scratch_bytes(units.n_heads, cell.head_dim, cell.head_dim));
  QUIRE_CHECK(scratch.ok());
  const Limits before = probe_limits(cell.isa, 1);
  for ([[maybe_unused]] auto _ : state) {
    for (int32_t row = 0; row < cell.n_rows; row += tile_rows) {
      for (int32_t unit = 0; unit < units.count; ++unit) {
        ops.attend(
            args,
            {.span = 0, .row_begin = row, .row_end = std::min(row + tile_rows, cell.n_rows), .unit = unit},
            nullptr, scratch.value().data());
      }
    }
  }
  report(state,
         {.ops = 4 * seen * cell.head_dim * cell.n_head,
          .bytes = static_cast<double>(pages.memory.size()),
          .arithmetic = Arithmetic::kMultiplyAdds},
         before, probe_limits(cell.isa, 1));
}

void register_cell(const Cell& cell) {
  const std::string name = std::string("attention/") + isa_name(cell.isa) +
                           "/d:" + std::to_string(cell.head_dim) + "/rows:" + std::to_string(cell.n_rows) +
                           "/context:" + std::to_string(cell.context);
  benchmark::RegisterBenchmark(name.c_str(), [cell](benchmark::State& state) { run_cell(state, cell); })
      ->MinTime(0.1)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void register_attention_cells() {
  constexpr struct {
    int32_t head_dim, n_head, n_head_kv;
  } kHeads[] = {{64, 9, 3}, {128, 12, 2}, {256, 4, 1}};
  for (const Isa isa : supported_isas()) {
    if (isa == Isa::kScalar) continue;  // slow by design
    for (const auto& heads : kHeads) {
      for (const int32_t n_rows : {1, 512}) {
        for (const int32_t context : {512, 2048, 4096}) {
          register_cell({.isa = isa,
                         .head_dim = heads.head_dim,
                         .n_head = heads.n_head,
                         .n_head_kv = heads.n_head_kv,
                         .n_rows = n_rows,
                         .context = context});
        }
      }
    }
  }
}

}  // namespace quire::bench
