// Whole models against the reference: logits within the stated tolerances, greedy ids equal, and the bits of
// the logits independent of how the tokens were fed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/runner.h"
#include "oracle/case.h"

namespace quire {
namespace {

using oracle::Case;

std::unique_ptr<Runner> load(const std::string& path, EngineSettings settings) {
  if (settings.ctx == 0) settings.ctx = 256;
  settings.max_batch_tokens = 256;
  settings.max_outputs = 256;
  if (settings.threads == 0) settings.threads = 2;
  Result<std::unique_ptr<Runner>> runner = Runner::load(path, settings, [](size_t, size_t) { return true; });
  EXPECT_TRUE(runner.ok()) << (runner.ok() ? "" : runner.error().message);
  return runner.ok() ? std::move(*runner) : nullptr;
}

using Rows = std::vector<std::vector<float>>;

// Logits of every token, fed in chunks: `first` tokens, then `chunk` at a time.
Rows feed(Runner& runner, const std::vector<int32_t>& tokens, size_t first, size_t chunk) {
  Rows rows;
  Result<SequenceId> sequence = runner.open();
  EXPECT_TRUE(sequence.ok());
  for (size_t begin = 0; begin < tokens.size();) {
    const size_t n = std::min(begin == 0 ? first : chunk, tokens.size() - begin);
    const BatchItem item{
        .sequence = *sequence, .tokens = std::span(tokens).subspan(begin, n), .logits = Logits::kAll};
    const Status status = runner.step({&item, 1});
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
    for (int64_t i = 0; i < runner.n_logits(); ++i) {
      const std::span<const float> row = runner.logits(i);
      rows.emplace_back(row.begin(), row.end());
    }
    begin += n;
  }
  runner.close(*sequence);
  return rows;
}

struct Difference {
  double max = 0, rms = 0;
};

Difference difference(const Rows& rows, const oracle::Array& expected) {
  Difference d;
  double sum = 0;
  size_t n = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::span<const float> want = expected.row(static_cast<int64_t>(r));
    for (size_t i = 0; i < want.size(); ++i) {
      const double delta = std::fabs(static_cast<double>(rows[r][i]) - static_cast<double>(want[i]));
      d.max = std::isnan(delta) ? INFINITY : std::max(d.max, delta);
      sum += delta * delta;
      ++n;
    }
  }
  d.rms = std::sqrt(sum / static_cast<double>(n));
  return d;
}

bool same_bits(const Rows& a, const Rows& b) {
  if (a.size() != b.size()) return false;
  for (size_t r = 0; r < a.size(); ++r) {
    if (std::memcmp(a[r].data(), b[r].data(), a[r].size() * sizeof(float)) != 0) return false;
  }
  return true;
}

int32_t argmax(const std::vector<float>& row) {
  return static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

// Where the first wrong layer is, for a failing case.
std::string hidden_report(const Case& c) {
  if (c.hidden.shape.size() != 3) return "";
  const std::unique_ptr<Runner> runner =
      load(c.model, {.ctx = c.ctx, .kv_type = graph::KvType::kF32, .tap_hidden = true});
  if (runner == nullptr) return "";
  feed(*runner, c.prompt, c.prompt.size(), 1);
  std::string report;
  const auto n_prompt = static_cast<int64_t>(c.prompt.size());
  for (int64_t layer = 0; layer < c.hidden.shape[0]; ++layer) {
    double worst = 0;
    for (int64_t row = 0; row < n_prompt; ++row) {
      const auto got = runner->hidden(static_cast<int32_t>(layer), row);
      if (!got) continue;
      const std::span<const float> want = c.hidden.row(layer * n_prompt + row);
      for (size_t i = 0; i < want.size(); ++i) {
        worst = std::max(worst, static_cast<double>(std::fabs((*got)[i] - want[i])));
      }
    }
    report += fmt::format("hidden {}: max difference {:.3g}\n", layer, worst);
  }
  return report;
}

class ReferenceModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(oracle::case_folder(GetParam())) &&
        !std::filesystem::exists(QUIRE_ORACLE_DIR))
      GTEST_SKIP() << "only in the full oracle, which is not here";
  }
};

TEST_P(ReferenceModel, LogitsAndGreedyIdsMatchTheReference) {
  Result<Case> c = oracle::load_case(GetParam());
  ASSERT_TRUE(c.ok()) << c.error().message;
  const std::unique_ptr<Runner> runner = load(c->model, {.ctx = c->ctx, .kv_type = graph::KvType::kF32});
  ASSERT_NE(runner, nullptr);
  const std::vector<int32_t> tokens = c->tokens();
  const Rows rows = feed(*runner, tokens, c->prompt.size(), 1);
  ASSERT_EQ(static_cast<int64_t>(rows.size()), c->logits.shape[0]);
  const Difference d = difference(rows, c->logits);
  RecordProperty("max_difference", fmt::format("{:.3g}", d.max));
  // A delta net subtracts what it knows from what it reads, and amplifies the noise of summation orders.
  const bool delta_net = GetParam().starts_with("qwen35") || GetParam() == "qwen3next";
  EXPECT_LT(d.max, delta_net ? 1e-3 : 2e-4 * std::max(1.0, c->logit_std)) << hidden_report(*c);
  for (size_t k = 0; k < c->greedy.size(); ++k) {
    EXPECT_EQ(argmax(rows[c->prompt.size() - 1 + k]), c->greedy[k]) << "greedy step " << k;
  }
}

TEST_P(ReferenceModel, BitsDoNotDependOnChunksThreadsOrIsa) {
  Result<Case> c = oracle::load_case(GetParam());
  ASSERT_TRUE(c.ok()) << c.error().message;
  const std::vector<int32_t> tokens = c->tokens();
  // The default form, f16 KV.
  const std::unique_ptr<Runner> reference = load(c->model, {.ctx = c->ctx});
  ASSERT_NE(reference, nullptr);
  const Rows expected = feed(*reference, tokens, tokens.size(), 1);
  for (size_t chunk : {size_t{1}, size_t{3}, size_t{7}, size_t{16}}) {
    EXPECT_TRUE(same_bits(feed(*reference, tokens, chunk, chunk), expected)) << "chunks of " << chunk;
  }
  for (int threads : {1, 3}) {
    const std::unique_ptr<Runner> other = load(c->model, {.ctx = c->ctx, .threads = threads});
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(same_bits(feed(*other, tokens, 5, 11), expected)) << threads << " threads";
  }
  for (Isa isa : supported_isas()) {
    const std::unique_ptr<Runner> other = load(c->model, {.ctx = c->ctx, .isa = isa_name(isa)});
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(same_bits(feed(*other, tokens, 30, 4), expected)) << isa_name(isa);
  }
  std::vector<std::string> everything_off;
  for (const OptimisationInfo& info : optimisation_list()) {
    const std::unique_ptr<Runner> other = load(c->model, {.ctx = c->ctx, .off = {info.name}});
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(same_bits(feed(*other, tokens, 13, 13), expected)) << "without " << info.name;
    everything_off.push_back(info.name);
  }
  const std::unique_ptr<Runner> plain = load(c->model, {.ctx = c->ctx, .off = everything_off});
  EXPECT_TRUE(same_bits(feed(*plain, tokens, 40, 1), expected)) << "without any optimisation";
}

TEST_P(ReferenceModel, HalfPrecisionCacheStaysClose) {
  Result<Case> c = oracle::load_case(GetParam());
  ASSERT_TRUE(c.ok()) << c.error().message;
  const std::unique_ptr<Runner> runner = load(c->model, {.ctx = c->ctx, .kv_type = graph::KvType::kF16});
  ASSERT_NE(runner, nullptr);
  const Difference d = difference(feed(*runner, c->tokens(), c->prompt.size(), 1), c->logits);
  EXPECT_LT(d.max, 4e-2);
  EXPECT_LT(d.rms, 5e-3);
  EXPECT_GT(d.max, 0);  // an f16 cache that rounds nothing is not one
}

// What embeddings are made of: the last of the hidden rows.
TEST_P(ReferenceModel, StatesMatchTheReference) {
  Result<Case> c = oracle::load_case(GetParam());
  ASSERT_TRUE(c.ok()) << c.error().message;
  if (c->hidden.shape.size() != 3) GTEST_SKIP() << "the case has no hidden rows";
  const std::unique_ptr<Runner> runner =
      load(c->model, {.ctx = c->ctx, .prompt_rows = 1, .kv_type = graph::KvType::kF32});
  ASSERT_NE(runner, nullptr);
  feed(*runner, c->prompt, c->prompt.size(), 1);
  const auto n_prompt = static_cast<int64_t>(c->prompt.size());
  ASSERT_EQ(runner->model().n_hidden(), c->hidden.shape[2]);
  double worst = 0;
  for (int64_t row = 0; row < n_prompt; ++row) {
    const std::span<const float> got = runner->state(row);
    const std::span<const float> want = c->hidden.row((c->hidden.shape[0] - 1) * n_prompt + row);
    for (size_t i = 0; i < want.size(); ++i)
      worst = std::max(worst, static_cast<double>(std::fabs(got[i] - want[i])));
  }
  EXPECT_LT(worst, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Oracle, ReferenceModel,
                         testing::Values("llama", "llama-biases", "llama-rope-linear", "llama-rope-llama3",
                                         "llama-rope-yarn", "llama-tied", "qwen2", "qwen2-yarn", "qwen3",
                                         "gemma2", "gemma3", "gemma3-full", "gemma3-linear", "phi3",
                                         "phi3-longrope", "phi3-longrope-short", "phi4-mini", "olmo2",
                                         "olmo2-gqa", "olmo3", "granite", "granite-tied", "mixtral",
                                         "qwen2moe", "qwen3moe", "gpt-oss", "mixtral-top3", "qwen2moe-shared",
                                         "qwen3moe-fused", "gpt-oss-plain", "olmoe", "granitemoe",
                                         "deepseek2", "deepseek3", "deepseek2-lite", "deepseek3-groups",
                                         "mamba2", "falcon-h1", "qwen35", "qwen35moe", "qwen3next", "mamba",
                                         "jamba", "granite-hybrid", "nemotron-h", "lfm2", "glm4"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(HalfPrecisionWeights, F16FilesHoldTheSameNumbers) {
  Result<Case> c = oracle::load_case("llama", "model-f16.gguf");
  ASSERT_TRUE(c.ok()) << c.error().message;
  const std::unique_ptr<Runner> f16 = load(c->model, {.kv_type = graph::KvType::kF32});
  const std::unique_ptr<Runner> f32 =
      load(oracle::case_folder("llama") + "/model-f32.gguf", {.kv_type = graph::KvType::kF32});
  ASSERT_TRUE(f16 != nullptr && f32 != nullptr);
  EXPECT_TRUE(same_bits(feed(*f16, c->tokens(), 9, 9), feed(*f32, c->tokens(), 9, 9)));
}

// A case of one model in many weight types, and one of them: "quant-dense/Q4_K".
class QuantisedWeights : public testing::TestWithParam<std::string> {
 protected:
  static Result<Case> load_case() {
    const std::string name = GetParam();
    const size_t slash = name.find('/');
    return oracle::load_typed_case(name.substr(0, slash), name.substr(slash + 1));
  }
  static bool has_experts() { return GetParam().starts_with("quant-moe"); }
};

std::vector<std::string> quantised_cases() {
  std::vector<std::string> names;
  for (const char* name : {"quant-dense", "quant-moe"}) {
    for (const std::string& type : oracle::case_types(name)) names.push_back(std::string(name) + "/" + type);
  }
  return names;
}

TEST_P(QuantisedWeights, ExactActivationsMatchTheReference) {
  Result<Case> c = load_case();
  ASSERT_TRUE(c.ok()) << c.error().message;
  const std::unique_ptr<Runner> runner =
      load(c->model, {.kv_type = graph::KvType::kF32, .activations = graph::ActivationSetting::kF32});
  ASSERT_NE(runner, nullptr);
  const Rows rows = feed(*runner, c->tokens(), c->prompt.size(), 1);
  EXPECT_LT(difference(rows, c->logits).max, 2e-4 * std::max(1.0, c->logit_std));
  for (size_t k = 0; k < c->greedy.size(); ++k) {
    EXPECT_EQ(argmax(rows[c->prompt.size() - 1 + k]), c->greedy[k]) << "greedy step " << k;
  }
}

TEST_P(QuantisedWeights, Int8ActivationsStayInsideTheToleranceAndKeepTheirBits) {
  Result<Case> c = load_case();
  ASSERT_TRUE(c.ok()) << c.error().message;
  const std::unique_ptr<Runner> runner = load(c->model, {.kv_type = graph::KvType::kF32});
  ASSERT_NE(runner, nullptr);
  const std::vector<int32_t> tokens = c->tokens();
  const Rows rows = feed(*runner, tokens, c->prompt.size(), 1);
  const Difference d = difference(rows, c->logits);
  RecordProperty("rms_difference", fmt::format("{:.3g}", d.rms));
  // Where rounding sends a row to another expert, the whole row changes: only the mean counts then.
  EXPECT_LT(d.max, has_experts() ? 10 : 1.5);
  EXPECT_LT(d.rms, has_experts() ? 0.4 : 0.3);
  EXPECT_GT(d.max, 1e-3);  // int8 activations that lose nothing are not int8
  for (Isa isa : supported_isas()) {
    const std::unique_ptr<Runner> other =
        load(c->model, {.isa = isa_name(isa), .kv_type = graph::KvType::kF32});
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(same_bits(feed(*other, tokens, 17, 5), rows)) << isa_name(isa);
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, QuantisedWeights, testing::ValuesIn(quantised_cases()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace quire
