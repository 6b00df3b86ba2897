// The output rows of a program without attention, fed a few tokens at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "graph/cpu_device.h"
#include "graph/cpu_executor.h"
#include "graph/weight_store.h"

namespace quire::graph::testing {

using OutputRows = std::vector<std::vector<float>>;  // [tokens, row]

inline OutputRows output_rows(CpuExecutor& executor, std::span<const int32_t> tokens, size_t chunk) {
  OutputRows rows;
  std::vector<int32_t> outputs(chunk);
  std::iota(outputs.begin(), outputs.end(), 0);
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const size_t n = std::min(chunk, tokens.size() - begin);
    executor.run({.tokens = tokens.subspan(begin, n),
                  .positions = nullptr,
                  .kv = {},
                  .output_rows = std::span(outputs).first(n)});
    for (size_t i = 0; i < n; ++i) {
      const std::span<const float> row = executor.logits_row(static_cast<int64_t>(i));
      rows.emplace_back(row.begin(), row.end());
    }
  }
  return rows;
}

// The same on a device and an executor made for it: `config` says the threads, the limits and what is
// switched off.
inline OutputRows output_rows(const Program& program, const WeightSource& source, const std::string& isa,
                              ExecutorConfig config, std::span<const int32_t> tokens, size_t chunk) {
  const CpuDevice device = CpuDevice::create(isa, config.n_threads).value();
  const WeightStore weights =
      WeightStore::load(program, source, device.pool(), [](size_t, size_t) { return true; }).value();
  config.program = &program;
  config.weights = &weights;
  config.kernels = &device.kernels();
  config.pool = &device.pool();
  CpuExecutor executor = CpuExecutor::create(config).value();
  return output_rows(executor, tokens, chunk);
}

}  // namespace quire::graph::testing
