// StepContext: what the parts of the CPU executor see of it and of the step being run.
//
// Borrows everything; filled by the executor. The index tables and the row counts are those of the current
// step, so a context is only meaningful inside CpuExecutor::run().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "graph/cpu_executor.h"
#include "graph/program.h"
#include "graph/schedule.h"
#include "graph/weight_store.h"
#include "kernels/kernel_table.h"

namespace quire::graph {

// A tile against one KV head whose chunks are divided into parts, or one beside such that stays whole.
struct SplitTile {
  kernels::AttentionTile tile;
  kernels::ChunkRange chunks;
  bool whole = false;
  int64_t first_part = 0;  // counted over all tiles
  float* partials = nullptr;
};

// What the attentions of a step share: lists to fill and records to write, reserved in create().
struct AttentionBuffers {
  std::vector<kernels::AttentionTile> tiles;
  std::vector<SplitTile> split;
  float* partials = nullptr;
  int64_t n_partials = 0;  // floats
  int64_t n_split = 0;     // attentions that were divided by positions
};

// A row's largest logit so far; id -1 when there is none above -Inf.
struct TopLogit {
  float value = 0;
  int32_t id = -1;
};

// What the threads note in the vocabulary's layer, reserved in create(). The answers end up at thread 0.
struct HeadBuffers {
  std::vector<TopLogit> tops = {};  // [threads, max_rows]
  std::vector<int32_t> ids = {};    // [threads, max_rows] scratch
  size_t max_rows = 0;
  TopLogit* tops_of(int thread) { return tops.data() + static_cast<size_t>(thread) * max_rows; }
  int32_t* ids_of(int thread) { return ids.data() + static_cast<size_t>(thread) * max_rows; }
};

struct StepContext {
  const Program* program = nullptr;
  const WeightStore* weights = nullptr;
  const kernels::KernelTable* kernels = nullptr;
  ThreadPool* pool = nullptr;
  int n_threads = 1;
  std::span<const KvBinding> kv;         // by KvLayer index
  std::span<const StateBinding> states;  // by StateLayer index
  std::byte* arena = nullptr;
  const size_t* offsets = nullptr;  // by value id, in the arena
  std::byte* scratch = nullptr;
  size_t scratch_stride = 0;  // bytes per thread
  AttentionBuffers* attention = nullptr;
  HeadBuffers* head = nullptr;
  const StepInput* step = nullptr;

  int64_t n_rows(Rows rows) const {
    return static_cast<int64_t>(rows == Rows::kTokens ? step->tokens.size() : step->output_rows.size());
  }
  std::byte* bytes(Value value) const { return arena + offsets[static_cast<size_t>(value.id)]; }
  float* f32(Value value) const {
    return reinterpret_cast<float*>(bytes(value)) + program->info(value).offset;
  }
  int64_t ld(Value value) const { return program->info(program->root(value)).cols; }  // floats between rows
  const float* vector(WeightId id) const { return id.valid() ? weights->vector(id) : nullptr; }
  std::byte* thread_scratch(int thread) const {
    return scratch + static_cast<size_t>(thread) * scratch_stride;
  }
};

}  // namespace quire::graph
