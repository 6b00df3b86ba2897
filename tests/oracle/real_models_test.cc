// The three real models against results of another engine, and against quire's own exact path. Slow; each
// test is skipped where its model is not installed (scripts/get-model.sh) or the full oracle is not at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/runner.h"

namespace quire {
namespace {

using Json = nlohmann::json;

std::string model_path(const std::string& name) {
  const char* home = std::getenv("QUIRE_HOME");
  const char* user = std::getenv("HOME");
  const std::string base =
      home != nullptr ? home : std::string(user != nullptr ? user : "") + "/.cache/quire";
  return base + "/models/" + name + ".gguf";
}

std::unique_ptr<Runner> load(const std::string& name, graph::ActivationSetting activations) {
  const EngineSettings settings{.ctx = 2048, .max_outputs = 512, .activations = activations};
  Result<std::unique_ptr<Runner>> runner =
      Runner::load(model_path(name), settings, [](size_t, size_t) { return true; });
  EXPECT_TRUE(runner.ok()) << (runner.ok() ? "" : runner.error().message);
  return runner.ok() ? std::move(*runner) : nullptr;
}

// Calls use(row, logits) for every token.
template <typename Use>
void for_each_row(Runner& runner, const std::vector<int32_t>& tokens, Use&& use) {
  constexpr size_t kChunk = 512;
  const Result<SequenceId> sequence = runner.open();
  ASSERT_TRUE(sequence.ok());
  for (size_t begin = 0; begin < tokens.size(); begin += kChunk) {
    const size_t n = std::min(kChunk, tokens.size() - begin);
    const BatchItem item{
        .sequence = *sequence, .tokens = std::span(tokens).subspan(begin, n), .logits = Logits::kAll};
    const Status status = runner.step({&item, 1});
    ASSERT_TRUE(status.ok()) << status.error().message;
    for (size_t i = 0; i < n; ++i) use(begin + i, runner.logits(static_cast<int64_t>(i)));
  }
  runner.close(*sequence);
}

int32_t argmax(std::span<const float> row) {
  return static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

class RealModel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(QUIRE_ORACLE_DIR).empty()) GTEST_SKIP() << "the full oracle is not here";
    if (!std::filesystem::exists(model_path(GetParam())))
      GTEST_SKIP() << model_path(GetParam()) << " is not installed";
  }
  static Json read(const std::string& file) {
    std::ifstream stream(std::string(QUIRE_ORACLE_DIR) + "/real/" + file);
    return Json::parse(stream);
  }
};

// The logits of each step along a reference's greedy path, when fed the reference's tokens.
std::vector<std::vector<float>> greedy_logits(Runner& runner, const Json& reference) {
  std::vector<int32_t> tokens = reference.at("prompt_ids").get<std::vector<int32_t>>();
  const auto greedy = reference.at("greedy").get<std::vector<int32_t>>();
  const size_t n_prompt = tokens.size();
  tokens.insert(tokens.end(), greedy.begin(), greedy.end() - 1);
  std::vector<std::vector<float>> steps;
  for_each_row(runner, tokens, [&](size_t row, std::span<const float> logits) {
    if (row + 1 >= n_prompt) steps.emplace_back(logits.begin(), logits.end());
  });
  return steps;
}

// Both engines round activations, differently. A step counts as agreed when quire's token is the reference's,
// or when it is not but quire's own exact path says the same as its int8 path: then the reference's rounding
// made the difference. What is left must be rare and a close call of the exact path.
TEST_P(RealModel, GreedyTokensAreTheReferences) {
  const std::unique_ptr<Runner> runner = load(GetParam(), graph::ActivationSetting::kInt8);
  ASSERT_NE(runner, nullptr);
  std::unique_ptr<Runner> exact;  // loaded when a step needs it
  size_t n_steps = 0, n_agreed = 0;
  for (const char* prompt : {"code", "facts", "story"}) {
    const Json reference = read(std::string(GetParam()) + "-" + prompt + ".json");
    const auto greedy = reference.at("greedy").get<std::vector<int32_t>>();
    const std::vector<std::vector<float>> logits = greedy_logits(*runner, reference);
    ASSERT_EQ(logits.size(), greedy.size());
    std::vector<std::vector<float>> exact_logits;
    size_t same = 0, reference_rounded = 0;
    for (size_t step = 0; step < logits.size(); ++step) {
      const int32_t token = argmax(logits[step]);
      if (token == greedy[step]) {
        ++same;
        continue;
      }
      if (exact == nullptr) exact = load(GetParam(), graph::ActivationSetting::kF32);
      ASSERT_NE(exact, nullptr);
      if (exact_logits.empty()) exact_logits = greedy_logits(*exact, reference);
      const std::vector<float>& row = exact_logits[step];
      const int32_t exact_token = argmax(row);
      if (exact_token == token) {
        ++reference_rounded;
        continue;
      }
      EXPECT_LT(row[exact_token] - row[token], 0.3f)
          << prompt << " step " << step << ": quire says " << token;
    }
    std::printf("%s %s: %zu of %zu greedy tokens are the reference's, %zu more are those of the exact path\n",
                GetParam(), prompt, same, logits.size(), reference_rounded);
    EXPECT_GE(static_cast<double>(same + reference_rounded), 0.95 * static_cast<double>(logits.size()))
        << prompt;
    n_steps += logits.size();
    n_agreed += same + reference_rounded;
  }
  EXPECT_GE(static_cast<double>(n_agreed), 0.97 * static_cast<double>(n_steps));
}

TEST_P(RealModel, Int8ActivationsStayCloseToTheExactPath) {
  const Json reference = read(std::string(GetParam()) + "-text.json");
  const auto tokens = reference.at("ids").get<std::vector<int32_t>>();
  std::vector<std::vector<float>> exact;
  {
    const std::unique_ptr<Runner> runner = load(GetParam(), graph::ActivationSetting::kF32);
    ASSERT_NE(runner, nullptr);
    for_each_row(*runner, tokens,
                 [&](size_t, std::span<const float> row) { exact.emplace_back(row.begin(), row.end()); });
  }
  const auto log_sum_exp = [](std::span<const float> row) {
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (float x : row) sum += std::exp(x - largest);
    return largest + std::log(sum);
  };
  const std::unique_ptr<Runner> runner = load(GetParam(), graph::ActivationSetting::kInt8);
  ASSERT_NE(runner, nullptr);
  double kl = 0, loss_int8 = 0, loss_exact = 0;
  size_t same_top = 0;
  for_each_row(*runner, tokens, [&](size_t r, std::span<const float> row) {
    const double z_exact = log_sum_exp(exact[r]);
    const double z = log_sum_exp(row);
    for (size_t i = 0; i < row.size(); ++i) {
      const double log_p = exact[r][i] - z_exact;
      kl += std::exp(log_p) * (log_p - (row[i] - z));
    }
    same_top += argmax(row) == argmax(exact[r]) ? 1 : 0;
    if (r + 1 == tokens.size()) return;
    const auto next = static_cast<size_t>(tokens[r + 1]);
    loss_int8 += z - row[next];
    loss_exact += z_exact - exact[r][next];
  });
  const auto n = static_cast<double>(tokens.size());
  std::printf("%s: mean KL %.3e over %zu tokens, same top %.2f%%, perplexity %.4f int8, %.4f exact\n",
              GetParam(), kl / n, tokens.size(), 100.0 * static_cast<double>(same_top) / n,
              std::exp(loss_int8 / (n - 1)), std::exp(loss_exact / (n - 1)));
  EXPECT_LT(kl / n, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Real, RealModel,
                         testing::Values("smollm2-135m-q4_1", "gemma3-270m-q4_k_m",
                                         "qwen2.5-coder-1.5b-q4_k_m"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace quire
