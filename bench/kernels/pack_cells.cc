// Repacking of weights on one thread, from a file's blocks in memory to packed groups in memory.

#include <benchmark/benchmark.h>

#include <cstring>
#include <set>
#include <string>

#include "cells.h"
#include "kernels/kernel_table.h"
#include "limits.h"

namespace quire::bench {
namespace {

using namespace kernels;

constexpr int64_t kColumns = 1536, kRowsPerCell = 4096;

void run_cell(benchmark::State& state, ElementType type) {
  const PackedFormat& format = *packed_format(type, ActivationSetting::kInt8);
  TensorView view = {.type = type, .dims = {kColumns, kRowsPerCell, 1, 1}};
  const size_t group_bytes = format.group_bytes(kColumns);
  const size_t packed_bytes = group_bytes * static_cast<size_t>(n_groups(kRowsPerCell));
  const Limits before = probe_limits(supported_isas().back(), 1);
  for ([[maybe_unused]] auto _ : state) {
    view.data = next_window(view.bytes());
    std::byte* out = next_window(packed_bytes);
    for (int64_t g = 0; g < n_groups(kRowsPerCell); ++g) {
      format.pack_group(view, g, out + static_cast<size_t>(g) * group_bytes);
    }
  }
  report(state, {.ops = 0, .bytes = static_cast<double>(view.bytes())}, before,
         probe_limits(supported_isas().back(), 1));
}

}  // namespace

void register_pack_cells() {
  for (const ElementTypeInfo& info : element_types()) {
    if (packed_format(info.type, ActivationSetting::kInt8) == nullptr) continue;
    const ElementType type = info.type;
    benchmark::RegisterBenchmark((std::string("pack/") + info.name).c_str(),
                                 [type](benchmark::State& state) { run_cell(state, type); })
        ->UseRealTime()
        ->MinTime(0.05)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace quire::bench
