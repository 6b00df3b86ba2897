// One linear layer per cell: every row of the kernel table, with few and many activation rows, weights in the
// second-level cache and in memory.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "cells.h"
#include "kernels/kernel_table.h"
#include "limits.h"

namespace quire::bench {
namespace {

using namespace kernels;

constexpr int64_t kColumns = 1536;

enum class Place { kL2, kDram };

struct Cell {
  const LinearKernel* kernel;
  ElementType type;  // one that uses the kernel's format
  int64_t m;
  Place place;
  int n_threads;
};

// Bytes of weights that one iteration reads.
size_t weight_bytes(const Cell& cell) {
  if (cell.kernel->isa == Isa::kScalar) return size_t{64} << 10;
  if (cell.place == Place::kL2) return size_t{512} << 10;
  return cell.m <= 4 ? size_t{64} << 20 : size_t{8} << 20;
}

// One group of zero blocks stands for all: speed does not depend on values.
// The last filling is remembered, because cells of one format follow each other.
void fill_with_groups(const Cell& cell, std::byte* to, size_t bytes) {
  static struct {
    const PackedFormat* format = nullptr;
    size_t bytes = 0;
  } filled;
  if (filled.format == cell.kernel->format && filled.bytes >= bytes) return;
  filled = {cell.kernel->format, bytes};
  const size_t group_bytes = cell.kernel->format->group_bytes(kColumns);
  const std::vector<std::byte> blocks(static_cast<size_t>(kColumns * kGroupRows) * 4);
  const TensorView view = {.type = cell.type, .dims = {kColumns, kGroupRows, 1, 1}, .data = blocks.data()};
  cell.kernel->format->pack_group(view, 0, to);
  for (size_t at = group_bytes; at + group_bytes <= bytes; at += group_bytes) {
    std::memcpy(to + at, to, group_bytes);
  }
}

// Activation rows of a cell, quantised where its format asks for it, and its outputs.
struct Rows {
  std::vector<float> x;
  MemoryRegion quantized, out;
};

MemoryRegion allocate(size_t bytes) {
  Result<MemoryRegion> region = MemoryRegion::allocate(bytes);
  QUIRE_CHECK(region.ok());
  region.value().fault_in(0, bytes);
  return std::move(region.value());
}

Rows make_rows(const Cell& cell, int64_t n) {
  const auto m = static_cast<size_t>(cell.m);
  const ActivationKind kind = cell.kernel->format->activation;
  Rows rows = {.x = std::vector<float>(m * kColumns),
               .quantized = allocate(activation_bytes(kind, cell.m, kColumns)),
               .out = allocate(m * static_cast<size_t>(n) * sizeof(float))};
  for (size_t i = 0; i < rows.x.size(); ++i) rows.x[i] = static_cast<float>(i * 7919 % 2001) * 1e-3f - 1;
  if (kind != ActivationKind::kF32) {
    kernel_table(cell.kernel->isa)
        .linear.quantize(
            {.x = rows.x.data(), .ld_x = kColumns, .out = rows.quantized.data(), .m = cell.m, .k = kColumns},
            0, cell.m);
  }
  return rows;
}

void run_cell(benchmark::State& state, const Cell& cell) {
  const LinearKernel& kernel = *cell.kernel;
  const size_t group_bytes = kernel.format->group_bytes(kColumns);
  const auto groups = static_cast<int64_t>(std::max<size_t>(1, weight_bytes(cell) / group_bytes));
  const size_t bytes = static_cast<size_t>(groups) * group_bytes;
  const int64_t n = groups * kGroupRows;
  const Rows rows = make_rows(cell, n);
  const bool is_f32 = kernel.format->activation == ActivationKind::kF32;
  LinearArgs args = {
      .weights = large_memory().data(),
      .n = n,
      .k = kColumns,
      .activations = is_f32 ? reinterpret_cast<const std::byte*>(rows.x.data()) : rows.quantized.data(),
      .ld_activations = kColumns,
      .m = cell.m,
      .out = reinterpret_cast<float*>(rows.out.data()),
      .ld_out = n};
  fill_with_groups(cell, large_memory().data(),
                   std::max(bytes, cell.place == Place::kL2 ? 0 : large_memory().size()));

  ThreadPool& pool = pool_of(cell.n_threads);
  const int64_t per_tile = groups_per_tile(*kernel.format, n, kColumns, cell.m, cell.n_threads);
  const Limits before = probe_limits(kernel.isa, cell.n_threads);
  const size_t n_matrices = cell.place == Place::kL2 ? 1 : large_memory().size() / bytes;
  size_t matrix = 0;
  for ([[maybe_unused]] auto _ : state) {
    args.weights = large_memory().data() + matrix * bytes;
    matrix = (matrix + 1) % n_matrices;
    pool.run((groups + per_tile - 1) / per_tile, [&](int64_t tile, int) {
      kernel.run(args, tile * per_tile, std::min(groups, (tile + 1) * per_tile));
    });
  }
  report(state,
         {.ops = 2.0 * static_cast<double>(n * kColumns * cell.m), .bytes = static_cast<double>(bytes)},
         before, probe_limits(kernel.isa, cell.n_threads));
}

// A type whose int8 or exact weights use the format.
ElementType type_of(const PackedFormat& format) {
  for (const ElementTypeInfo& info : element_types()) {
    if (packed_format(info.type, ActivationSetting::kInt8) == &format) return info.type;
  }
  QUIRE_CHECK(false);
  return ElementType::kF32;
}

void register_cell(const Cell& cell) {
  const std::string name = std::string("linear/") + cell.kernel->name + "/m:" + std::to_string(cell.m) +
                           (cell.place == Place::kL2 ? "/l2" : "/dram") +
                           "/threads:" + std::to_string(cell.n_threads);
  benchmark::RegisterBenchmark(name.c_str(), [cell](benchmark::State& state) { run_cell(state, cell); })
      ->UseRealTime()
      ->MinTime(0.05)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void register_linear_cells() {
  const std::span<const Isa> isas = supported_isas();
  for (const LinearKernel& row : kernel_table(isas.back()).linear.kernels) {
    for (const Isa isa : isas) {
      Cell cell = {.kernel = &linear_kernel(kernel_table(isa), *row.format), .type = type_of(*row.format)};
      const bool reference = isa == Isa::kScalar;  // slow by design
      for (const int64_t m : {1, 4, 12, 32, 512}) {
        if (reference && m > 4) continue;
        for (const Place place : {Place::kL2, Place::kDram}) {
          if (reference && place == Place::kDram) continue;
          for (const int n_threads : {1, many_threads()}) {
            cell.m = m;
            cell.place = place;
            cell.n_threads = n_threads;
            register_cell(cell);
          }
        }
      }
    }
  }
}

}  // namespace quire::bench
