// Model: a model file understood: its program, tokenizer and template, without weights or memory.
//
// Reads headers only, so it is cheap; `quire plan` stops here and the engine goes on to load weights. Owns
// the file mapping, into which the program's weight views point. Immutable after open(); thread safe to read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "engine/settings.h"
#include "gguf/gguf_file.h"
#include "graph/cpu_executor.h"
#include "graph/passes.h"
#include "graph/program.h"
#include "graph/schedule.h"
#include "memory/layer_needs.h"
#include "memory/memory_config.h"
#include "models/gguf_weights.h"

namespace quire {

// What can be switched off with --off, besides the graph passes.
struct OptimisationInfo {
  std::string name;
  std::string about;
};
std::vector<OptimisationInfo> optimisation_list();

class Model {
 public:
  // Errors: those of GgufFile::open; kUnsupported (architecture, tensor type); kCorrupt (keys, tensors);
  // kInvalidArgument (settings out of range, unknown name in `off`).
  static Result<std::unique_ptr<Model>> open(const std::string& path, const EngineSettings& settings);

  const GgufFile& file() const { return file_; }
  const GgufWeights& weights() const { return weights_; }
  const graph::Program& program() const { return program_; }
  const std::vector<graph::PassReport>& passes() const { return passes_; }
  graph::RowPhases row_phases() const { return row_phases_; }
  graph::AttentionSplit attention_split() const { return attention_split_; }
  graph::HeadTiles head_tiles() const { return head_tiles_; }
  graph::GatedTiles gated_tiles() const { return gated_tiles_; }
  PrefixCache prefix_cache() const { return prefix_cache_; }
  int64_t spill_pages() const { return spill_pages_; }  // 0 when spilling is off
  // In how many places an optimisation is at work: 0 when it is off, or the model gives it no occasion.
  int64_t n_uses(std::string_view optimisation) const;
  const std::string& architecture() const { return architecture_; }
  std::string name() const;  // general.name, or the file's
  int64_t ctx() const { return ctx_; }
  int64_t n_ctx_train() const { return n_ctx_train_; }
  int64_t n_vocab() const { return n_vocab_; }
  // Of the state at a token that the vocabulary's layer takes; 0 when the settings keep none readable.
  int64_t n_hidden() const {
    return program_.state.valid() && program_.info(program_.root(program_.state)).tap
               ? program_.info(program_.state).cols
               : 0;
  }
  LayerNeeds layer_needs() const;  // of the program's kv_layers, then of its state_layers

 private:
  explicit Model(GgufFile file) : file_(std::move(file)), weights_(file_) {}

  GgufFile file_;
  GgufWeights weights_;
  graph::Program program_;
  std::vector<graph::PassReport> passes_;
  graph::RowPhases row_phases_ = graph::RowPhases::kMerged;
  graph::AttentionSplit attention_split_ = graph::AttentionSplit::kOn;
  graph::HeadTiles head_tiles_ = graph::HeadTiles::kOn;
  graph::GatedTiles gated_tiles_ = graph::GatedTiles::kOn;
  PrefixCache prefix_cache_ = PrefixCache::kOn;
  int64_t spill_pages_ = 0;
  std::string architecture_;
  int64_t ctx_ = 0;
  int64_t n_ctx_train_ = 0;
  int64_t n_vocab_ = 0;
};

}  // namespace quire
