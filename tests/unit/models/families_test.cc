// What each family makes of its keys and optional tensors. Numbers are checked by the oracle's cases
// (tests/oracle); here it is the program that is looked at, and that it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/runner.h"
#include "models/architecture.h"
#include "unit/engine/held_as_planned.h"
#include "unit/gguf/temp_folder.h"
#include "unit/models/tiny_model.h"

namespace quire {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TempFolder;
using testing::TinyModel;

class Families : public ::testing::Test {
 protected:
  std::unique_ptr<Model> open(const TinyModel& model, const EngineSettings& settings = {}) {
    Result<std::unique_ptr<Model>> opened = Model::open(model.write(folder.path("model.gguf")), settings);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  // Logits of the last of a few tokens.
  std::vector<float> logits(const TinyModel& model) {
    EngineSettings settings;
    settings.threads = 1;
    Result<std::unique_ptr<Runner>> runner =
        Runner::load(model.write(folder.path("model.gguf")), settings, [](size_t, size_t) { return true; });
    EXPECT_TRUE(runner.ok()) << (runner.ok() ? "" : runner.error().message);
    if (!runner.ok()) return {};
    const std::vector<int32_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6};
    EXPECT_TRUE((*runner)->feed((*runner)->open().value(), tokens).ok());
    const std::span<const float> row = (*runner)->logits(0);
    return {row.begin(), row.end()};
  }

  TempFolder folder;
};

EngineSettings with_context(int64_t ctx) {
  EngineSettings settings;
  settings.ctx = ctx;
  return settings;
}

int count_ops(const graph::Program& program, std::string_view name) {
  int n = 0;
  for (const graph::Op& op : program.ops) n += op_name(op) == name ? 1 : 0;
  return n;
}

std::vector<float> scales(const graph::Program& program) {
  std::vector<float> found;
  for (const graph::Op& op : program.ops) {
    if (const auto* attention = std::get_if<graph::AttentionAttrs>(&op.attrs))
      found.push_back(attention->scale);
  }
  return found;
}

std::vector<int32_t> windows(const graph::Program& program) {
  std::vector<int32_t> found;
  for (const graph::KvLayer& layer : program.kv_layers) found.push_back(layer.window);
  return found;
}

TEST_F(Families, TheTableIsSortedAndFindsItsOwn) {
  std::set<std::string_view> names;
  std::string_view last;
  for (const Architecture& architecture : architectures()) {
    EXPECT_LT(last, architecture.name);
    last = architecture.name;
    EXPECT_EQ(find_architecture(architecture.name).value(), &architecture);
    EXPECT_FALSE(architecture.about.empty());
  }
}

TEST_F(Families, EachRunsAndEveryTensorMatters) {
  for (const Architecture& architecture : architectures()) {
    SCOPED_TRACE(architecture.name);
    const TinyModel whole = TinyModel::of(architecture.name);
    const std::vector<float> expected = logits(whole);
    ASSERT_EQ(expected.size(), static_cast<size_t>(TinyModel::kVocab));
    for (float logit : expected) ASSERT_TRUE(std::isfinite(logit));
    for (const TinyModel::Tensor& tensor : whole.tensors()) {
      TinyModel model = whole;
      // A bias on k alone moves every score of a query alike, but for the rotation after it.
      size_t n = 1;
      for (int64_t dim : tensor.dims) n *= static_cast<size_t>(dim);
      std::vector<float> values(n, 0.5f);
      for (size_t i = 0; i < n; i += 3) values[i] = -0.25f;
      model.tensor(tensor.name).values = std::move(values);
      EXPECT_NE(logits(model), expected) << tensor.name;
    }
  }
}

TEST_F(Families, BiasesAreTakenWhereTheFileHasThem) {
  TinyModel qwen = TinyModel::of("qwen2");
  EXPECT_EQ(count_ops(open(qwen)->program(), "add_bias"), 3 * TinyModel::kLayers);
  for (int il = 0; il < TinyModel::kLayers; ++il) {
    for (const char* name : {"q", "k", "v"}) qwen.erase_tensor(fmt::format("blk.{}.attn_{}.bias", il, name));
  }
  EXPECT_EQ(count_ops(open(qwen)->program(), "add_bias"), 0);
  TinyModel llama = TinyModel::of("llama");
  llama.add_tensor({.name = "blk.0.attn_output.bias", .dims = {TinyModel::kWidth}});
  llama.add_tensor({.name = "blk.1.ffn_gate.bias", .dims = {TinyModel::kHidden}});
  llama.add_tensor({.name = "output.bias", .dims = {TinyModel::kVocab}});
  EXPECT_EQ(count_ops(open(llama)->program(), "add_bias"), 3);
  llama.tensor("blk.0.attn_output.bias").dims = {7};
  const Result<std::unique_ptr<Model>> bad = Model::open(llama.write(folder.path("bad.gguf")), {});
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, HasSubstr("blk.0.attn_output.bias"));
}

std::vector<graph::RouteAttrs> routings(const graph::Program& program) {
  std::vector<graph::RouteAttrs> found;
  for (const graph::Op& op : program.ops) {
    if (const auto* route = std::get_if<graph::RouteAttrs>(&op.attrs)) found.push_back(*route);
  }
  return found;
}

TEST_F(Families, RoutingFollowsTheKeys) {
  using kernels::Gating, kernels::GateWeights;
  EXPECT_EQ(routings(open(TinyModel::of("qwen2moe"))->program())[1].normalise, GateWeights::kPlain);
  EXPECT_EQ(routings(open(TinyModel::of("gpt-oss"))->program())[0].gating, Gating::kSoftmaxOfSelected);
  TinyModel model = TinyModel::of("qwen3moe");
  EXPECT_EQ(routings(open(model)->program())[0].normalise, GateWeights::kSumToOne);
  EXPECT_EQ(routings(open(model)->program())[0].scale, 1);
  model.set("qwen3moe.expert_gating_func", uint32_t{2});
  model.set("qwen3moe.expert_weights_norm", false);
  model.set("qwen3moe.expert_weights_scale", 2.5f);
  model.set("qwen3moe.expert_group_count", uint32_t{2});
  model.set("qwen3moe.expert_group_used_count", uint32_t{1});
  const graph::RouteAttrs route = routings(open(model)->program())[1];
  EXPECT_EQ(route.gating, Gating::kSigmoid);
  EXPECT_EQ(route.normalise, GateWeights::kPlain);
  EXPECT_EQ(route.scale, 2.5f);
  EXPECT_EQ(route.n_groups, 2);
  EXPECT_EQ(route.n_groups_used, 1);
  model.set("qwen3moe.expert_weights_scale", 0.0f);  // what files say that mean none
  EXPECT_EQ(routings(open(model)->program())[0].scale, 1);
}

TEST_F(Families, AMixtralIsALlamaWithExperts) {
  TinyModel model = TinyModel::of("llama");
  model.set("llama.expert_count", uint32_t{3});
  model.set("llama.expert_used_count", uint32_t{2});
  for (int64_t il = 0; il < TinyModel::kLayers; ++il) {
    const auto name = [&](std::string_view part) { return fmt::format("blk.{}.ffn_{}.weight", il, part); };
    for (const char* part : {"gate", "up", "down"}) model.erase_tensor(name(part));
    model.add_tensor({.name = name("gate_inp"), .dims = {TinyModel::kWidth, 3}});
    model.add_tensor({.name = name("gate_up_exps"), .dims = {TinyModel::kWidth, 2 * TinyModel::kHidden, 3}});
    model.add_tensor({.name = name("down_exps"), .dims = {TinyModel::kHidden, TinyModel::kWidth, 3}});
  }
  EXPECT_EQ(routings(open(model)->program())[0].normalise, kernels::GateWeights::kSumToOne);
  const std::vector<float> before = logits(model);
  // A bias that decides which experts are chosen.
  model.add_tensor({.name = "blk.0.exp_probs_b.bias", .dims = {3}, .values = {0, 0, 9}});
  model.add_tensor({.name = "blk.1.exp_probs_b.bias", .dims = {3}, .values = {9, 0, 0}});
  EXPECT_NE(logits(model), before);
  // The first layer may have no experts.
  model.set("llama.leading_dense_block_count", uint32_t{1});
  for (const char* part : {"gate", "up"}) {
    model.add_tensor(
        {.name = fmt::format("blk.0.ffn_{}.weight", part), .dims = {TinyModel::kWidth, TinyModel::kHidden}});
  }
  model.add_tensor({.name = "blk.0.ffn_down.weight", .dims = {TinyModel::kHidden, TinyModel::kWidth}});
  EXPECT_EQ(routings(open(model)->program()).size(), 1u);
}

TEST_F(Families, SinksAndWindowsOfGptOss) {
  const std::unique_ptr<Model> model = open(TinyModel::of("gpt-oss"));
  EXPECT_THAT(windows(model->program()), ElementsAre(128, 0));
  for (const graph::Op& op : model->program().ops) {
    if (std::holds_alternative<graph::AttentionAttrs>(op.attrs)) EXPECT_EQ(op.weights.size(), 1u);
  }
}

// k_b and v_b in one tensor, and queries without a rank of their own, are the same model.
TEST_F(Families, LatentProjectionsMayBeWholeOrSplit) {
  TinyModel split = TinyModel::of("deepseek2");
  constexpr int64_t kPlain = TinyModel::kHead - TinyModel::kRope;
  TinyModel whole = split;
  whole.erase("deepseek2.attention.key_length_mla");
  whole.erase("deepseek2.attention.value_length_mla");
  whole.set("deepseek2.attention.key_length", uint32_t{TinyModel::kHead});
  whole.set("deepseek2.attention.value_length", uint32_t{TinyModel::kHead});
  for (int64_t il = 0; il < TinyModel::kLayers; ++il) {
    const auto name = [&](const char* part) { return fmt::format("blk.{}.{}.weight", il, part); };
    TinyModel::Tensor& k = split.tensor(name("attn_k_b"));
    TinyModel::Tensor& v = split.tensor(name("attn_v_b"));
    std::vector<float> both;
    for (int64_t head = 0; head < TinyModel::kHeads; ++head) {
      for (int64_t row = 0; row < kPlain + TinyModel::kHead; ++row) {
        for (int64_t c = 0; c < TinyModel::kRankKv; ++c)
          both.push_back(static_cast<float>((head * 7 + row * 5 + c * 3) % 11) / 16 - 0.3f);
      }
    }
    const auto at = [&](int64_t head, int64_t row, int64_t c) {
      return both[static_cast<size_t>((head * (kPlain + TinyModel::kHead) + row) * TinyModel::kRankKv + c)];
    };
    for (int64_t head = 0; head < TinyModel::kHeads; ++head) {
      for (int64_t c = 0; c < TinyModel::kRankKv; ++c) {
        for (int64_t row = 0; row < kPlain; ++row) k.values.push_back(at(head, row, c));
      }
      for (int64_t row = kPlain; row < kPlain + TinyModel::kHead; ++row) {
        for (int64_t c = 0; c < TinyModel::kRankKv; ++c) v.values.push_back(at(head, row, c));
      }
    }
    whole.erase_tensor(name("attn_k_b"));
    whole.erase_tensor(name("attn_v_b"));
    whole.add_tensor({.name = name("attn_kv_b"),
                      .dims = {TinyModel::kRankKv, TinyModel::kHeads * (kPlain + TinyModel::kHead)},
                      .values = both});
  }
  // Other tensors are drawn in file order: give them the same numbers.
  const TinyModel drawn = TinyModel::of("deepseek2");
  for (const TinyModel::Tensor& tensor : drawn.tensors()) {
    if (!split.tensor(tensor.name).values.empty()) continue;
    size_t n = 1;
    for (int64_t dim : tensor.dims) n *= static_cast<size_t>(dim);
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>((i * 29 + n) % 13) / 16 - 0.35f;
    split.tensor(tensor.name).values = values;
    whole.tensor(tensor.name).values = values;
  }
  EXPECT_EQ(logits(split), logits(whole));
}

TEST_F(Families, ALatentLayerKeepsOneRow) {
  TinyModel model = TinyModel::of("deepseek2");
  const std::unique_ptr<Model> opened = open(model);
  for (const graph::KvLayer& layer : opened->program().kv_layers) {
    EXPECT_EQ(layer.form, graph::KvForm::kLatent);
    EXPECT_EQ(layer.d_k, TinyModel::kRankKv + TinyModel::kRope);
    EXPECT_EQ(layer.d_v, TinyModel::kRankKv);
  }
  EXPECT_EQ(std::get<LatentNeed>(opened->layer_needs()[0]).width, TinyModel::kRankKv + TinyModel::kRope);
  EXPECT_THAT(scales(opened->program()), Each(0.25f));
  // YaRN is in the scale of scores, (1 + 0.0707 ln 40)^2, and not on cos and sin.
  model.set("deepseek2.rope.scaling.type", std::string("yarn"));
  model.set("deepseek2.rope.scaling.factor", 40.0f);
  model.set("deepseek2.rope.scaling.yarn_log_multiplier", 0.0707f);
  const std::unique_ptr<Model> yarn = open(model);
  EXPECT_EQ(yarn->program().ropes[0].magnitude, 1);
  EXPECT_NEAR(scales(yarn->program())[0], 0.25 * std::pow(1 + 0.0707 * std::log(40.0), 2), 1e-6);
  // Draft layers at the end are left out.
  model.set("deepseek2.nextn_predict_layers", uint32_t{1});
  EXPECT_EQ(open(model)->program().kv_layers.size(), size_t{TinyModel::kLayers - 1});
}

TEST_F(Families, ATiedHeadReadsTheTable) {
  TinyModel model = TinyModel::of("llama");
  const std::vector<float> untied = logits(model);
  model.erase_tensor("output.weight");
  const std::unique_ptr<Model> tied = open(model);
  int uses = 0;
  for (const graph::WeightDecl& decl : tied->program().weights)
    uses += decl.name == "token_embd.weight" ? 1 : 0;
  EXPECT_EQ(uses, 2);
  EXPECT_NE(logits(model), untied);
}

TEST_F(Families, TheScaleOfScoresIsTheFilesOrOfTheHeadSize) {
  TinyModel model = TinyModel::of("llama");
  EXPECT_THAT(scales(open(model)->program()), Each(0.25f));  // heads of 16
  model.set("llama.attention.scale", 0.0f);                  // what files say that mean the default
  EXPECT_THAT(scales(open(model)->program()), Each(0.25f));
  model.set("llama.attention.scale", 0.125f);
  EXPECT_THAT(scales(open(model)->program()), Each(0.125f));
  TinyModel granite = TinyModel::of("granite");
  granite.set("granite.attention.scale", 0.0625f);
  EXPECT_THAT(scales(open(granite)->program()), Each(0.0625f));
}

TEST_F(Families, LlamaFilesHaveNoWindow) {
  TinyModel model = TinyModel::of("llama");
  model.set("llama.attention.sliding_window", uint32_t{4});
  EXPECT_THAT(windows(open(model)->program()), Each(0));
  TinyModel phi = TinyModel::of("phi3");
  phi.set("phi3.attention.sliding_window", uint32_t{4});
  EXPECT_THAT(windows(open(phi)->program()), Each(0));
}

TEST_F(Families, WindowsFollowThePattern) {
  TinyModel gemma2 = TinyModel::of("gemma2");
  gemma2.set("gemma2.attention.sliding_window", uint32_t{5});
  EXPECT_THAT(windows(open(gemma2)->program()), ElementsAre(5, 0));
  TinyModel gemma3 = TinyModel::of("gemma3");
  EXPECT_THAT(windows(open(gemma3)->program()), ElementsAre(1024, 1024));
  EXPECT_EQ(open(gemma3)->program().ropes.size(), 1u);
  gemma3.set("gemma3.attention.sliding_window_pattern", uint32_t{2});
  EXPECT_THAT(windows(open(gemma3)->program()), ElementsAre(1024, 0));
  const std::unique_ptr<Model> both = open(gemma3);
  ASSERT_EQ(both->program().ropes.size(), 2u);  // of windowed layers, of full ones
  EXPECT_NEAR(both->program().ropes[0].inv_freq[1], std::pow(1e4, -0.125), 1e-6);
  EXPECT_NEAR(both->program().ropes[1].inv_freq[1], std::pow(1e6, -0.125), 1e-6);
  TinyModel olmo = TinyModel::of("olmo2");
  EXPECT_THAT(windows(open(olmo)->program()), ElementsAre(0, 0));
  olmo.set("olmo2.attention.sliding_window", uint32_t{6});
  olmo.set("olmo2.attention.sliding_window_pattern", uint32_t{2});
  EXPECT_THAT(windows(open(olmo)->program()), ElementsAre(6, 0));
}

TEST_F(Families, LongFactorsAreChosenByTheContextAskedFor) {
  TinyModel model = TinyModel::of("phi3");
  model.set("phi3.rope.scaling.original_context_length", uint32_t{32});
  model.add_tensor({.name = "rope_factors_long.weight", .dims = {8}, .values = std::vector<float>(8, 4)});
  model.add_tensor({.name = "rope_factors_short.weight", .dims = {8}, .values = std::vector<float>(8, 2)});
  EXPECT_FLOAT_EQ(open(model, with_context(32))->program().ropes[0].inv_freq[0], 0.5f);
  EXPECT_FLOAT_EQ(open(model, with_context(33))->program().ropes[0].inv_freq[0], 0.25f);
  TinyModel plain = TinyModel::of("phi3");
  EXPECT_FLOAT_EQ(open(plain, with_context(64))->program().ropes[0].inv_freq[0], 1);
}

TEST_F(Families, OnlyPartOfAHeadMayRotate) {
  TinyModel model = TinyModel::of("phi3");
  model.set("phi3.rope.dimension_count", uint32_t{12});
  EXPECT_EQ(open(model)->program().ropes[0].inv_freq.size(), 6u);
}

TEST_F(Families, HiddenRowsCanBeTapped) {
  EngineSettings settings;
  settings.tap_hidden = true;
  const std::unique_ptr<Model> model = open(TinyModel::of("qwen3"), settings);
  std::set<std::string> taps;
  for (const graph::ValueInfo& value : model->program().values) {
    if (value.tap) taps.insert(value.name);
  }
  EXPECT_THAT(taps, ElementsAre("hidden.0", "hidden.1", "hidden.2", "logits"));
}

// The model with its matrices in Q8_0, and n_vocab rows in the vocabulary's.
TinyModel quantised(std::string_view architecture, int64_t n_vocab) {
  const TinyModel plain = TinyModel::of(architecture);
  TinyModel model = plain;
  model.set(fmt::format("{}.vocab_size", architecture), static_cast<uint32_t>(n_vocab));
  for (const TinyModel::Tensor& listed : plain.tensors()) {
    TinyModel::Tensor& tensor = model.tensor(listed.name);
    if (listed.name == "token_embd.weight" || listed.name == "output.weight") tensor.dims[1] = n_vocab;
    if (listed.dims.size() >= 2 && listed.dims[0] % 32 == 0) tensor.type = ElementType::kQ8_0;
  }
  return model;
}

// The matrices that meet activations in two planes, of one layer or of all.
std::set<std::string> in_two_planes(const graph::Program& program, std::string_view prefix) {
  std::set<std::string> names;
  for (const graph::Op& op : program.ops) {
    if (op.inputs.empty() || program.info(op.inputs[0]).type != graph::DataType::kQ8x32Pair) continue;
    for (const graph::WeightId weight : op.weights) {
      if (!weight.valid()) continue;
      const std::string& name = program.weights[static_cast<size_t>(weight.id)].name;
      if (name.starts_with(prefix)) names.insert(name);
    }
  }
  return names;
}

TEST_F(Families, AttentionSeesTwoPlanesWhereTheVocabularyIsMostOfTheModel) {
  const std::vector<std::string> attention = {"blk.0.attn_k.weight", "blk.0.attn_output.weight",
                                              "blk.0.attn_q.weight", "blk.0.attn_v.weight"};
  // Rows of width values: q, k, v and output; gate, up and down, of each expert.
  constexpr int64_t kAttention = 2 * (TinyModel::kHeads + TinyModel::kHeadsKv) * TinyModel::kHead;
  constexpr int64_t kDense = TinyModel::kLayers * (kAttention + 3 * TinyModel::kHidden);
  constexpr int64_t kRouted =
      TinyModel::kLayers * (kAttention + 3 * TinyModel::kExperts * TinyModel::kExpertHidden);
  for (const auto& [architecture, layers] : {std::pair("gemma3", kDense), std::pair("olmoe", kRouted)}) {
    SCOPED_TRACE(architecture);
    const std::unique_ptr<Model> even = open(quantised(architecture, layers));
    EXPECT_THAT(in_two_planes(even->program(), "blk.0."), IsEmpty());
    const std::unique_ptr<Model> most = open(quantised(architecture, layers + 1));
    EXPECT_THAT(in_two_planes(most->program(), "blk.0."), ElementsAreArray(attention));
    for (const Model* model : {even.get(), most.get()}) {
      EXPECT_THAT(in_two_planes(model->program(), "blk.1.attn"), SizeIs(4));
      EXPECT_THAT(in_two_planes(model->program(),
                                architecture == std::string_view("gemma3") ? "token_embd" : "output"),
                  SizeIs(1));
    }
  }
  // Latent attention and layers with a state have not been measured: they follow the last layer's rule only.
  for (const char* architecture : {"deepseek2", "falcon-h1", "qwen35"}) {
    EXPECT_THAT(in_two_planes(open(quantised(architecture, 5000))->program(), "blk.0."), IsEmpty())
        << architecture;
  }
}

TEST_F(Families, TwoPlanesAreOfTheModelNotOfTheStep) {
  const std::string path = quantised("gemma3", 1000).write(folder.path("model.gguf"));
  const std::vector<int32_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  std::vector<std::vector<float>> results;
  for (const std::vector<std::string>& off : {std::vector<std::string>{}, {"fuse-linear"}}) {
    const EngineSettings settings{.threads = 2, .off = off};
    testing::expect_held_as_planned(path, settings);
    const std::unique_ptr<Runner> runner =
        std::move(*Runner::load(path, settings, [](size_t, size_t) { return true; }));
    for (const size_t chunk : {tokens.size(), size_t{1}, size_t{4}}) {
      const SequenceId sequence = runner->open().value();
      for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
        const size_t n = std::min(chunk, tokens.size() - begin);
        ASSERT_TRUE(runner->feed(sequence, std::span(tokens).subspan(begin, n)).ok());
      }
      const std::span<const float> row = runner->logits(0);
      results.emplace_back(row.begin(), row.end());
      runner->close(sequence);
    }
  }
  EXPECT_THAT(results, Each(results[0]));
}

TEST_F(Families, GraniteScalesWhatTheFileSays) {
  TinyModel model = TinyModel::of("granite");
  model.set("granite.embedding_scale", 3.0f);
  model.set("granite.residual_scale", 0.5f);
  model.set("granite.logit_scale", 4.0f);
  EngineSettings settings;
  settings.off = {"fuse-add-norm"};
  const std::unique_ptr<Model> opened = open(model, settings);
  for (const graph::Op& op : opened->program().ops) {
    if (const auto* embed = std::get_if<graph::EmbedAttrs>(&op.attrs)) {
      EXPECT_EQ(embed->scale, 3.0f);
    }
    if (const auto* add = std::get_if<graph::AddAttrs>(&op.attrs)) {
      EXPECT_EQ(add->b_scale, 0.5f);
    }
    if (const auto* scale = std::get_if<graph::ScaleAttrs>(&op.attrs)) {
      EXPECT_EQ(scale->scale, 0.25f);
    }
  }
  EXPECT_EQ(count_ops(opened->program(), "scale"), 1);
}

}  // namespace
}  // namespace quire
