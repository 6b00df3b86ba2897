#include "engine/model.h"

#include <algorithm>

#include "models/architecture.h"

namespace quire {
namespace {

constexpr const char* kRowPhases = "row-phases";
constexpr const char* kAttentionSplit = "attention-split";
constexpr const char* kHeadArgmax = "head-argmax";
constexpr const char* kGatedTiles = "gated-tiles";
constexpr const char* kPrefixCache = "prefix-cache";
constexpr const char* kSpill = "spill";
constexpr int64_t kMaxContext = int64_t{1} << 24;

Status check_off(const std::vector<std::string>& off) {
  const std::vector<OptimisationInfo> known = optimisation_list();
  for (const std::string& name : off) {
    if (std::any_of(known.begin(), known.end(),
                    [&](const OptimisationInfo& info) { return info.name == name; }))
      continue;
    std::string names;
    for (const OptimisationInfo& info : known) names += (names.empty() ? "" : ", ") + info.name;
    return make_error(ErrorCode::kInvalidArgument,
                      "there is no optimisation \"{}\" to switch off; there are {}", name, names);
  }
  return {};
}

}  // namespace

std::vector<OptimisationInfo> optimisation_list() {
  std::vector<OptimisationInfo> list;
  for (const graph::PassInfo& pass : graph::pass_list()) list.push_back({pass.name, pass.about});
  list.push_back(
      {kRowPhases,
       "row operations that follow each other run on a few rows at a time, without a barrier between"});
  list.push_back(
      {kAttentionSplit, "few long sequences are divided among threads by positions, not only by heads"});
  list.push_back(
      {kHeadArgmax,
       "the vocabulary's layer finishes logits tile by tile and finds the largest of greedy rows"});
  list.push_back(
      {kGatedTiles,
       "feed-forward networks gate and quantise tile by tile, while the linear layers' results are "
       "in the cache"});
  list.push_back({kPrefixCache, "keys and values of equal beginnings are kept once and found again"});
  list.push_back({kSpill,
                  "a preempted request's keys and values are copied away and back where that is cheaper than "
                  "computing them again"});
  return list;
}

Result<std::unique_ptr<Model>> Model::open(const std::string& path, const EngineSettings& settings) {
  QUIRE_RETURN_IF_ERROR(check_off(settings.off));
  QUIRE_ASSIGN_OR_RETURN(GgufFile file, GgufFile::open(path));
  std::unique_ptr<Model> model(new Model(std::move(file)));
  const Metadata& metadata = model->file_.metadata();
  const auto in_file = [&](Error error) {
    error.message = path + ": " + error.message;
    return error;
  };

  Result<std::string> name = metadata.get<std::string>("general.architecture");
  if (!name.ok()) return in_file(std::move(name).error());
  model->architecture_ = *name;
  Result<const Architecture*> architecture = find_architecture(model->architecture_);
  if (!architecture.ok()) return in_file(std::move(architecture).error());

  Result<int64_t> n_ctx_train = metadata.get<int64_t>(model->architecture_ + ".context_length");
  if (!n_ctx_train.ok()) return in_file(std::move(n_ctx_train).error());
  if (*n_ctx_train < 1) {
    return in_file(make_error(ErrorCode::kCorrupt, "{}.context_length is {}, expected at least 1",
                              model->architecture_, *n_ctx_train));
  }
  model->n_ctx_train_ = *n_ctx_train;
  model->ctx_ = settings.ctx != 0 ? settings.ctx : std::min(model->n_ctx_train_, kDefaultContext);
  if (model->ctx_ < 1 || model->ctx_ > kMaxContext) {
    return make_error(ErrorCode::kInvalidArgument, "context of {} tokens, expected 1 to {}", model->ctx_,
                      kMaxContext);
  }

  graph::ProgramBuilder builder(model->weights_, settings.activations);
  Result<graph::Value> logits =
      (*architecture)->build(metadata, {.ctx = model->ctx_, .tap_hidden = settings.tap_hidden}, builder);
  if (!logits.ok()) return in_file(std::move(logits).error());
  Result<graph::Program> program = std::move(builder).finish(*logits);
  if (!program.ok()) return in_file(std::move(program).error());
  model->program_ = std::move(*program);
  if (graph::Program& built = model->program_; settings.prompt_rows > 0 && built.state.valid())
    built.values[static_cast<size_t>(built.root(built.state).id)].tap = true;
  model->n_vocab_ = model->program_.info(model->program_.logits).cols;
  model->passes_ = graph::run_passes(model->program_, settings.off);
  const auto is_off = [&](const char* name) {
    return std::find(settings.off.begin(), settings.off.end(), name) != settings.off.end();
  };
  model->row_phases_ = is_off(kRowPhases) ? graph::RowPhases::kSeparate : graph::RowPhases::kMerged;
  model->attention_split_ =
      is_off(kAttentionSplit) ? graph::AttentionSplit::kOff : graph::AttentionSplit::kOn;
  model->head_tiles_ = is_off(kHeadArgmax) ? graph::HeadTiles::kOff : graph::HeadTiles::kOn;
  model->gated_tiles_ = is_off(kGatedTiles) ? graph::GatedTiles::kOff : graph::GatedTiles::kOn;
  model->prefix_cache_ = is_off(kPrefixCache) ? PrefixCache::kOff : PrefixCache::kOn;
  model->spill_pages_ = is_off(kSpill) ? 0 : settings.spill_pages;
  return model;
}

int64_t Model::n_uses(std::string_view optimisation) const {
  if (optimisation == kRowPhases) return row_phases_ == graph::RowPhases::kMerged ? 1 : 0;
  if (optimisation == kHeadArgmax) {
    std::vector<graph::Phase> phases = graph::make_phases(program_, row_phases_);
    return head_tiles_ == graph::HeadTiles::kOn && graph::merge_head(program_, phases) ? 1 : 0;
  }
  if (optimisation == kGatedTiles) {
    std::vector<graph::Phase> phases = graph::make_phases(program_, row_phases_);
    return gated_tiles_ == graph::GatedTiles::kOn ? graph::merge_gated(program_, phases) : 0;
  }
  if (optimisation == kPrefixCache) return prefix_cache_ == PrefixCache::kOn ? 1 : 0;
  if (optimisation == kSpill) return spill_pages_ > 0 ? 1 : 0;
  const auto pass = std::ranges::find(passes_, optimisation, &graph::PassReport::name);
  return pass == passes_.end() ? 0 : pass->fired;
}

std::string Model::name() const {
  Result<std::string> name = file_.metadata().get_or<std::string>("general.name", "");
  if (name.ok() && !name->empty()) return *name;
  const std::string& path = file_.path();
  return path.substr(path.find_last_of('/') + 1);
}

LayerNeeds Model::layer_needs() const {
  LayerNeeds needs;
  for (const graph::KvLayer& layer : program_.kv_layers) {
    if (layer.form == graph::KvForm::kLatent) {
      needs.push_back(LatentNeed{.width = layer.d_k});
    } else {
      needs.push_back(AttentionNeed{
          .n_head_kv = layer.n_head_kv, .d_k = layer.d_k, .d_v = layer.d_v, .window = layer.window});
    }
  }
  for (const graph::StateLayer& layer : program_.state_layers)
    needs.push_back(RecurrentNeed{.tail_elements = layer.tail, .state_elements = layer.state});
  return needs;
}

}  // namespace quire
