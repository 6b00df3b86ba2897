// CpuExecutor: runs a planned program, step after step, on the CPU.
//
// Owns the activation arena and per-thread scratch, all allocated in create(); a step allocates nothing.
// Borrows the program, weights, pool and KV pages, which must outlive it. One step at a time, from one
// thread; the pool's threads help inside run().
//
//   QUIRE_ASSIGN_OR_RETURN(CpuExecutor executor, CpuExecutor::create({...}));
//   executor.run(step);
//   std::span<const float> row = executor.logits_row(0);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory_region.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "graph/profiler.h"
#include "graph/program.h"
#include "graph/schedule.h"
#include "graph/weight_store.h"
#include "kernels/kernel_table.h"

namespace quire::graph {

// Where one layer's pages are. Layers with the same `table` index share block tables and slots.
struct KvBinding {
  kernels::KvLayout layout;
  std::byte* pages = nullptr;
  size_t page_stride = 0;
  int32_t table = 0;
};

// The index tables of one group of layers in one step; built once per step, read by every layer of the group.
struct KvTables {
  const int64_t* slots = nullptr;                // [n_tokens]
  std::span<const kernels::SequenceSpan> spans;  // cover all rows, in order
};

// Where one layer's states are: slot s at states + s * stride.
struct StateBinding {
  float* states = nullptr;
  int64_t stride = 0;  // floats
};

// What all layers with a state read in a step.
struct StateTables {
  const int32_t* slots = nullptr;             // [n_tokens] that take the state after each row
  std::span<const kernels::StateSpan> spans;  // cover all rows, in order
};

// Whether the vocabulary's layer runs; without it a step ends with what that layer would take
// (Program::state, which must be a value of the program), and there are no logits.
enum class Head : uint8_t { kRun, kSkip };

struct StepInput {
  std::span<const int32_t> tokens;       // [n_tokens] ids, each valid for the embedding table
  const int32_t* positions = nullptr;    // [n_tokens]
  std::span<const KvTables> kv;          // by KvBinding::table
  StateTables states;                    // empty where no layer has a state
  std::span<const int32_t> output_rows;  // rows whose logits, or states, are wanted
  int32_t argmax_columns = 0;            // > 0: the largest of the first so many logits of each row, too
  Head head = Head::kRun;
};

// Whether few long sequences are divided among threads by their positions (the optimisation
// `attention-split`) or by heads and rows only.
enum class AttentionSplit : uint8_t { kOn, kOff };

// Whether the vocabulary's layer finishes its logits tile by tile and finds the largest (the optimisation
// `head-argmax`), or each operation goes over whole rows.
enum class HeadTiles : uint8_t { kOn, kOff };

// Whether gated feed-forward networks gate and quantise tile by tile (the optimisation `gated-tiles`).
enum class GatedTiles : uint8_t { kOn, kOff };

struct ExecutorConfig {
  const Program* program = nullptr;
  const WeightStore* weights = nullptr;  // null only for a dry executor
  const kernels::KernelTable* kernels = nullptr;
  ThreadPool* pool = nullptr;  // null only for a dry executor
  int n_threads = 1;
  std::span<const KvBinding> kv;              // by KvLayer index; pages may be null in a dry executor
  std::span<const StateBinding> states = {};  // by StateLayer index; likewise
  StepLimits limits;
  RowPhases row_phases = RowPhases::kMerged;
  AttentionSplit attention_split = AttentionSplit::kOn;
  HeadTiles head_tiles = HeadTiles::kOn;
  GatedTiles gated_tiles = GatedTiles::kOn;
  Allocation allocation = Allocation::kReal;
};

class CpuExecutor {
 public:
  // Errors: kResourceExhausted.
  static Result<CpuExecutor> create(const ExecutorConfig& config);
  CpuExecutor(CpuExecutor&&) noexcept;
  CpuExecutor& operator=(CpuExecutor&&) noexcept;
  ~CpuExecutor();

  // Runs one step; row counts must be within the limits, tables must cover the tokens (programmer errors).
  void run(const StepInput& step);

  // Hears about every phase from now on; null for nobody. Must outlive the runs.
  void set_profiler(Profiler* profiler);

  // Logits of output row i of the last step: [n_vocab].
  std::span<const float> logits_row(int64_t i) const;
  // The id of the largest of the step's argmax_columns logits of output row i, the lowest among equals; -1
  // when none is above -Inf. Nothing when the last step did not look for it.
  std::optional<int32_t> argmax(int64_t i) const;
  // Row i of a tapped value of the last step.
  std::span<const float> tap_row(Value tap, int64_t i) const;

  size_t arena_bytes() const;    // activations, logits excluded
  size_t tap_bytes() const;      // logits and other taps
  size_t scratch_bytes() const;  // per-thread scratch of all threads
  int64_t n_phases() const;      // barriers per step
  // Attentions so far that were divided by positions.
  int64_t n_split_attentions() const;

 private:
  struct State;
  explicit CpuExecutor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace quire::graph
