// Runner: a model with weights and memory, ready to run steps over a static set of sequences.
//
// Owns the device, weights, KV pages and executor. All memory is allocated and faulted in by load();
// afterwards a step allocates nothing. Used by one thread at a time.
//
//   QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<Runner> runner, Runner::load(path, settings, progress));
//   QUIRE_ASSIGN_OR_RETURN(SequenceId sequence, runner->open());
//   QUIRE_RETURN_IF_ERROR(runner->feed(sequence, prompt));   // any length, in steps of max_batch_tokens
//   std::span<const float> logits = runner->logits(0);       // of the last token
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/memory_plan.h"
#include "engine/model.h"
#include "engine/settings.h"
#include "graph/cpu_device.h"
#include "graph/cpu_executor.h"
#include "graph/weight_store.h"
#include "memory/sequence_memory.h"
#include "sampling/sampler.h"

namespace quire {

enum class Logits : uint8_t { kNone, kLast, kAll };

// What is read of those rows: their logits and states, or the states alone. A step of which only states
// are read leaves the vocabulary's layer out (Model::n_hidden() must not be 0).
enum class RowOutput : uint8_t { kLogits, kState };

// What one sequence does in a step.
struct BatchItem {
  SequenceId sequence;
  std::span<const int32_t> tokens;
  Logits logits = Logits::kLast;
  RowOutput output = RowOutput::kLogits;
};

class Runner {
 public:
  // The plan load() would carry out, reading headers only. Errors: those of Model::open.
  static Result<MemoryPlan> plan(const std::string& path, const EngineSettings& settings);

  // Errors: those of Model::open; kResourceExhausted; kCancelled when progress returns false.
  static Result<std::unique_ptr<Runner>> load(const std::string& path, const EngineSettings& settings,
                                              graph::LoadProgress progress);

  const Model& model() const { return *model_; }
  const graph::CpuDevice& device() const { return *device_; }
  const EngineSettings& settings() const { return settings_; }
  MemoryPlan memory() const;  // what was allocated, in the form of plan()

  Result<SequenceId> open() { return memory_->open(); }
  void close(SequenceId sequence) { memory_->close(sequence); }
  int64_t length(SequenceId sequence) const { return memory_->length(sequence); }
  // Returns the length reached, which may be shorter than asked for (SequenceMemory::truncate).
  int64_t truncate(SequenceId sequence, int64_t n_keep) { return memory_->truncate(sequence, n_keep); }
  SequenceMemory& memory_module() { return *memory_; }

  // Runs one step over the items (each sequence at most once, their tokens at most max_batch_tokens, their
  // logits at most max_outputs in sum). Errors: kInvalidArgument (token id outside the vocabulary, empty
  // item), kContextLength, kResourceExhausted; the step then has not run and no sequence has changed.
  // With argmax_columns > 0 the step also looks for the largest of the first so many logits of each row.
  Status step(std::span<const BatchItem> items, int32_t argmax_columns = 0);

  // Feeds any number of tokens to one sequence, in steps of at most max_batch_tokens, with logits for the
  // last only.
  Status feed(SequenceId sequence, std::span<const int32_t> tokens);

  // Row i of the last step's logits, in the order of its items and their tokens: [n_vocab].
  std::span<const float> logits(int64_t row) const { return executor_->logits_row(row); }
  // One for each thread of the device, for rows of logits.
  Sampler& sampler(int thread) { return samplers_[static_cast<size_t>(thread)]; }
  // The id of the largest of the last step's argmax_columns logits of row i, the lowest among equals, found
  // while they were computed; -1 when none is above -Inf. Nothing when not asked for, or with --off
  // head-argmax.
  std::optional<int32_t> argmax(int64_t row) const { return executor_->argmax(row); }
  // Row i of what the vocabulary's layer took in the last step: [Model::n_hidden()], which must not be 0.
  std::span<const float> state(int64_t row) const { return executor_->tap_row(model_->program().state, row); }
  int64_t n_logits() const { return static_cast<int64_t>(output_rows_.size()); }
  // Row i of the hidden state entering `layer` (settings.tap_hidden), or of the normed output for layer =
  // n_layer.
  std::optional<std::span<const float>> hidden(int32_t layer, int64_t row) const;

  int64_t n_steps() const { return n_steps_; }

  // Hears about every phase of the coming steps; null for nobody. Must outlive them.
  void set_profiler(graph::Profiler* profiler) { executor_->set_profiler(profiler); }

 private:
  explicit Runner(const EngineSettings& settings) : settings_(settings) {}
  // Model, memory and executor, dry or real; weights only when real.
  static Result<std::unique_ptr<Runner>> create(const std::string& path, const EngineSettings& settings,
                                                Allocation allocation, graph::LoadProgress progress);

  EngineSettings settings_;
  std::unique_ptr<Model> model_;
  std::optional<graph::CpuDevice> device_;
  std::optional<graph::WeightStore> weights_;
  std::optional<SequenceMemory> memory_;
  std::optional<graph::CpuExecutor> executor_;
  std::vector<Sampler> samplers_;  // none when dry

  // The largest step that was planned.
  int64_t max_tokens_ = 0;
  int64_t max_outputs_ = 0;
  // Buffers of the step, reserved once.
  std::vector<int32_t> tokens_;
  std::vector<int32_t> output_rows_;
  std::vector<std::vector<kernels::SequenceSpan>> spans_;  // by group of layers, as tables_
  std::vector<graph::KvTables> tables_;
  std::vector<kernels::StateSpan> state_spans_;
  int64_t n_steps_ = 0;
};

}  // namespace quire
