#include "engine/runner.h"

#include <algorithm>

#include "base/check.h"
#include "engine/model_fingerprint.h"
#include "engine/tokenizer_memory.h"

namespace quire {
namespace {

// Bounds the block tables; 268 million positions.
constexpr int64_t kMaxPages = int64_t{1} << 24;
// Of all sequences together: what they were fed is kept, four bytes each.
constexpr int64_t kMaxPositions = int64_t{1} << 31;

Status check_settings(const EngineSettings& settings) {
  const auto in_range = [](const char* name, int64_t value, int64_t low, int64_t high) -> Status {
    if (value >= low && value <= high) return {};
    return make_error(ErrorCode::kInvalidArgument, "{} is {}, expected {} to {}", name, value, low, high);
  };
  QUIRE_RETURN_IF_ERROR(in_range("the number of parallel sequences", settings.max_sequences, 1, 1 << 16));
  QUIRE_RETURN_IF_ERROR(in_range("the number of tokens in a batch", settings.max_batch_tokens, 1, 1 << 20));
  QUIRE_RETURN_IF_ERROR(in_range("the number of logit rows", settings.max_outputs, 0, 1 << 20));
  QUIRE_RETURN_IF_ERROR(in_range("the number of rows for prompts", settings.prompt_rows, 0, 1 << 20));
  QUIRE_RETURN_IF_ERROR(in_range("the number of pages", settings.kv_pages, 0, kMaxPages));
  QUIRE_RETURN_IF_ERROR(in_range("the length of a draft", settings.max_draft, 0, 64));
  QUIRE_RETURN_IF_ERROR(in_range("the number of spill pages", settings.spill_pages, 0, kMaxPages));
  return {};
}

}  // namespace

Result<std::unique_ptr<Runner>> Runner::create(const std::string& path, const EngineSettings& settings,
                                               Allocation allocation, graph::LoadProgress progress) {
  QUIRE_RETURN_IF_ERROR(check_settings(settings));
  std::unique_ptr<Runner> runner(new Runner(settings));
  QUIRE_ASSIGN_OR_RETURN(runner->model_, Model::open(path, settings));
  const Model& model = *runner->model_;
  const bool dry = allocation == Allocation::kDry;
  QUIRE_ASSIGN_OR_RETURN(runner->device_, dry ? graph::CpuDevice::create_dry(settings.isa, settings.threads)
                                              : graph::CpuDevice::create(settings.isa, settings.threads));
  const graph::CpuDevice& device = *runner->device_;

  if (model.ctx() > kMaxPositions / settings.max_sequences) {
    return make_error(ErrorCode::kResourceExhausted,
                      "the tables of {} sequences of {} tokens are too large, expected at most {} tokens "
                      "together: choose fewer (--parallel) or shorter ones (--ctx)",
                      settings.max_sequences, model.ctx(), kMaxPositions);
  }
  const int64_t all_full = pages_for(model.ctx()) * settings.max_sequences;
  const int64_t pages = settings.kv_pages > 0 ? std::min(settings.kv_pages, all_full) : all_full;
  if (pages > kMaxPages) {
    return make_error(ErrorCode::kInvalidArgument,
                      "{} sequences of {} tokens are {} pages, expected at most {}", settings.max_sequences,
                      model.ctx(), pages, kMaxPages);
  }
  if (settings.checkpoint_every <= 0 || settings.checkpoint_every % kPagePositions != 0) {
    return make_error(ErrorCode::kInvalidArgument,
                      "a checkpoint every {} tokens, expected a positive multiple of {}",
                      settings.checkpoint_every, kPagePositions);
  }
  const int64_t max_tokens = std::min(settings.max_batch_tokens, model.ctx() * settings.max_sequences);
  const int64_t max_outputs = std::min(
      max_tokens, (settings.max_outputs > 0 ? settings.max_outputs : int64_t{settings.max_sequences}) +
                      settings.prompt_rows);
  runner->max_tokens_ = max_tokens;
  runner->max_outputs_ = max_outputs;
  MemoryConfig memory{.needs = model.layer_needs(),
                      .element_bytes = graph::kv_element_bytes(settings.kv_type),
                      .n_pages = static_cast<int32_t>(pages),
                      .n_spill_pages = static_cast<int32_t>(model.spill_pages()),
                      .max_sequences = settings.max_sequences,
                      .max_positions = model.ctx(),
                      .max_step_tokens = max_tokens,
                      .max_draft = settings.max_draft,
                      .checkpoint_every = settings.checkpoint_every,
                      .max_checkpoint_bytes = settings.checkpoint_budget,
                      .prefix_cache = model.prefix_cache(),
                      .max_cached_bytes = settings.cache_budget,
                      .fingerprint = model_fingerprint(model.file(), model.ctx(), settings),
                      .allocation = allocation};
  if (settings.kv_budget > 0) {
    QUIRE_ASSIGN_OR_RETURN(memory.n_pages, pages_within(memory, settings.kv_budget));
    if (memory.n_pages == 0) {
      return make_error(ErrorCode::kResourceExhausted,
                        "a budget of {} bytes for keys and values does not hold one page of {} tokens",
                        settings.kv_budget, kPagePositions);
    }
  }
  QUIRE_ASSIGN_OR_RETURN(runner->memory_, SequenceMemory::create(memory));
  runner->memory_->fault_in();

  if (!dry) {
    QUIRE_ASSIGN_OR_RETURN(runner->weights_, graph::WeightStore::load(model.program(), model.weights(),
                                                                      device.pool(), progress));
  }

  std::vector<graph::KvBinding> bindings;
  for (size_t layer = 0; layer < model.program().kv_layers.size(); ++layer) {
    bindings.push_back(graph::bind_kv(model.program().kv_layers[layer], settings.kv_type,
                                      runner->memory_->layer_pages(layer),
                                      runner->memory_->layer_page_stride(layer)));
    bindings.back().table = runner->memory_->layer_group(layer);
  }
  std::vector<graph::StateBinding> states;
  for (size_t layer = 0; layer < model.program().state_layers.size(); ++layer) {
    states.push_back({.states = runner->memory_->layer_states(bindings.size() + layer),
                      .stride = runner->memory_->states()->slot_floats()});
  }
  QUIRE_ASSIGN_OR_RETURN(
      runner->executor_,
      graph::CpuExecutor::create({.program = &model.program(),
                                  .weights = dry ? nullptr : &*runner->weights_,
                                  .kernels = &device.kernels(),
                                  .pool = device.pool_or_null(),
                                  .n_threads = device.n_threads(),
                                  .kv = bindings,
                                  .states = states,
                                  .limits = {.max_tokens = max_tokens, .max_outputs = max_outputs},
                                  .row_phases = model.row_phases(),
                                  .attention_split = model.attention_split(),
                                  .head_tiles = model.head_tiles(),
                                  .gated_tiles = model.gated_tiles(),
                                  .allocation = allocation}));
  for (int t = 0; !dry && t < device.n_threads(); ++t) runner->samplers_.emplace_back(model.n_vocab());
  runner->tokens_.reserve(static_cast<size_t>(max_tokens));
  runner->output_rows_.reserve(static_cast<size_t>(max_outputs));
  runner->tables_.resize(static_cast<size_t>(runner->memory_->n_groups()));
  runner->spans_.resize(runner->tables_.size());
  for (auto& spans : runner->spans_) spans.reserve(static_cast<size_t>(settings.max_sequences));
  if (!states.empty()) runner->state_spans_.reserve(static_cast<size_t>(settings.max_sequences));
  return runner;
}

Result<MemoryPlan> Runner::plan(const std::string& path, const EngineSettings& settings) {
  QUIRE_ASSIGN_OR_RETURN(const std::unique_ptr<Runner> runner,
                         create(path, settings, Allocation::kDry, [](size_t, size_t) { return true; }));
  return runner->memory();
}

Result<std::unique_ptr<Runner>> Runner::load(const std::string& path, const EngineSettings& settings,
                                             graph::LoadProgress progress) {
  return create(path, settings, Allocation::kReal, progress);
}

MemoryPlan Runner::memory() const {
  const graph::Program& program = model_->program();
  const size_t weight_bytes = weights_ ? weights_->bytes() : graph::WeightStore::plan_bytes(program);
  size_t table_weights = 0;
  for (const graph::WeightDecl& decl : program.weights) {
    if (decl.role == graph::WeightRole::kTable) table_weights += decl.view.bytes();
  }
  size_t sampling = 0;
  for (int t = 0; t < device_->n_threads(); ++t) {
    sampling += samplers_.empty() ? Sampler::plan_bytes(model_->n_vocab())
                                  : samplers_[static_cast<size_t>(t)].bytes();
  }
  MemoryPlan plan;
  plan.max_sequences = settings_.max_sequences;
  plan.max_context = model_->ctx();
  plan.rows = {
      {"weights", "host", weight_bytes, fmt::format("repacked for {}", device_->isa())},
      {"weights", "file", table_weights, "token embeddings, read in place"},
  };
  for (int32_t g = 0; g < memory_->n_groups(); ++g) {
    const PageGroup& group = memory_->group(g);
    plan.rows.push_back(
        {"kv", "host", group.bytes(),
         fmt::format("{} pages of {} tokens, {}{}", group.pool().n_pages(), kPagePositions,
                     graph::kv_type_name(settings_.kv_type),
                     group.window() == 0 ? "" : fmt::format(", for a window of {}", group.window()))});
  }
  if (memory_->spill_bytes() > 0) {
    plan.rows.push_back(
        {"kv", "host", memory_->spill_bytes(),
         fmt::format("up to {} pages of each kind, for preempted sequences", model_->spill_pages())});
  }
  if (const StateGroup* states = memory_->states(); states != nullptr) {
    const PagePool& checkpoints = states->checkpoints();
    plan.rows.push_back({"state", "host", states->sequence_bytes(),
                         fmt::format("{} sequence{}, f32", settings_.max_sequences,
                                     settings_.max_sequences == 1 ? "" : "s")});
    plan.rows.push_back(
        {"state", "host", states->checkpoint_bytes(),
         fmt::format("{} checkpoint{}", checkpoints.n_pages(), checkpoints.n_pages() == 1 ? "" : "s")});
  }
  if (settings_.answer_bytes > 0) {
    plan.rows.push_back(
        {"answers", "host", settings_.answer_bytes, "all requests and their answers, at most"});
  }
  const PlanRow others[] = {
      {"activations", "host", executor_->arena_bytes(), fmt::format("steps of {} tokens", max_tokens_)},
      {"logits", "host", executor_->tap_bytes(),
       max_outputs_ == 1 ? "1 row" : fmt::format("{} rows", max_outputs_)},
      {"tables", "host", memory_->table_bytes(), "block tables, prefix index"},
      {"tables", "host", tokenizer_bytes(model_->file().metadata()), "tokenizer, estimated"},
      {"scratch", "host", executor_->scratch_bytes(),
       fmt::format("{} thread{}", device_->n_threads(), device_->n_threads() == 1 ? "" : "s")},
      {"scratch", "host", sampling, "sampling"},
  };
  plan.rows.insert(plan.rows.end(), std::begin(others), std::end(others));
  return plan;
}

Status Runner::step(std::span<const BatchItem> items, int32_t argmax_columns) {
  tokens_.clear();
  output_rows_.clear();
  // Everything is checked before anything changes.
  const int64_t n_vocab = model_->n_vocab();
  size_t n_tokens = 0, n_outputs = 0;
  for (const BatchItem& item : items) {
    if (item.tokens.empty()) return make_error(ErrorCode::kInvalidArgument, "a sequence was given no tokens");
    for (int32_t token : item.tokens) {
      if (token < 0 || token >= n_vocab) {
        return make_error(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary of {}", token,
                          n_vocab);
      }
    }
    n_tokens += item.tokens.size();
    n_outputs += item.logits == Logits::kAll ? item.tokens.size() : item.logits == Logits::kLast ? 1 : 0;
  }
  if (n_tokens > static_cast<size_t>(max_tokens_) || n_outputs > static_cast<size_t>(max_outputs_)) {
    return make_error(ErrorCode::kResourceExhausted,
                      "a step of {} tokens and {} logit rows, planned were {} and {}", n_tokens, n_outputs,
                      max_tokens_, max_outputs_);
  }
  memory_->begin_step();
  for (size_t i = 0; i < items.size(); ++i) {
    Status appended = memory_->append(items[i].sequence, items[i].tokens);
    if (!appended.ok()) {
      for (size_t j = 0; j < i; ++j) memory_->take_back(items[j].sequence);
      memory_->begin_step();  // that one is over
      return appended;
    }
  }
  bool reads_logits = n_outputs == 0;
  for (const BatchItem& item : items) {
    const size_t first = tokens_.size();
    tokens_.insert(tokens_.end(), item.tokens.begin(), item.tokens.end());
    const size_t first_output = item.logits == Logits::kAll ? first : tokens_.size() - 1;
    if (item.logits == Logits::kNone) continue;
    reads_logits = reads_logits || item.output == RowOutput::kLogits;
    for (size_t row = first_output; row < tokens_.size(); ++row)
      output_rows_.push_back(static_cast<int32_t>(row));
  }
  const StepTables tables = memory_->tables();
  for (size_t g = 0; g < tables_.size(); ++g) {
    spans_[g].clear();
    for (const StepSpan& span : tables.groups[g].spans) {
      spans_[g].push_back({.row_begin = span.row_begin, .row_end = span.row_end, .table = span.table});
    }
    tables_[g] = {.slots = tables.groups[g].slots.data(), .spans = spans_[g]};
  }
  state_spans_.clear();
  for (const StateSpan& span : tables.states.spans)
    state_spans_.push_back({.row_begin = span.row_begin, .row_end = span.row_end, .source = span.source});
  executor_->run({.tokens = tokens_,
                  .positions = tables.positions.data(),
                  .kv = tables_,
                  .states = {.slots = tables.states.slots.data(), .spans = state_spans_},
                  .output_rows = output_rows_,
                  .argmax_columns = argmax_columns,
                  .head = reads_logits ? graph::Head::kRun : graph::Head::kSkip});
  memory_->commit_step();
  ++n_steps_;
  return {};
}

Status Runner::feed(SequenceId sequence, std::span<const int32_t> tokens) {
  const auto chunk = static_cast<size_t>(max_tokens_);
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    const std::span<const int32_t> part = tokens.subspan(begin, std::min(chunk, tokens.size() - begin));
    const bool last = begin + part.size() == tokens.size();
    const BatchItem item{
        .sequence = sequence, .tokens = part, .logits = last ? Logits::kLast : Logits::kNone};
    QUIRE_RETURN_IF_ERROR(step({&item, 1}));
  }
  return {};
}

std::optional<std::span<const float>> Runner::hidden(int32_t layer, int64_t row) const {
  const graph::Program& program = model_->program();
  const std::string name = fmt::format("hidden.{}", layer);
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (program.values[v].name == name) return executor_->tap_row(graph::Value{static_cast<int32_t>(v)}, row);
  }
  return std::nullopt;
}

}  // namespace quire
