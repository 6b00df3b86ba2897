// Generation on tiny models: a pure function of prompt, settings and seed, whatever the sequence held before.
#include "engine/generation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/utf8.h"
#include "oracle/case.h"

namespace quire {
namespace {

constexpr int64_t kContext = 128;

struct Loaded {
  std::unique_ptr<Runner> runner;
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Generation> generation;
};

Loaded load(const std::string& model, EngineSettings settings = {}) {
  if (settings.ctx == 0) settings.ctx = kContext;
  settings.threads = 1;
  Loaded loaded;
  NullLogSink log;
  Result<std::unique_ptr<Runner>> runner = Runner::load(model, settings, [](size_t, size_t) { return true; });
  EXPECT_TRUE(runner.ok()) << (runner.ok() ? "" : runner.error().message);
  loaded.runner = std::move(*runner);
  loaded.tokenizer = std::move(*Tokenizer::load(loaded.runner->model().file().metadata(), log));
  loaded.generation = std::move(*Generation::create(*loaded.runner, *loaded.tokenizer));
  return loaded;
}

std::string model_path(const std::string& name) {
  return std::string(QUIRE_TEST_DATA) + "/models/" + name + "/model-f32.gguf";
}

class Watcher final : public GenerationObserver {
 public:
  std::function<Flow(int64_t)> prompt_flow = [](int64_t) { return Flow::kContinue; };
  std::function<Flow(size_t)> text_flow = [](size_t) { return Flow::kContinue; };  // of the number of calls
  std::vector<std::string> pieces;
  std::vector<int64_t> prompt_parts;

  Flow on_prompt(int64_t done, int64_t) override {
    prompt_parts.push_back(done);
    return prompt_flow(done);
  }
  Flow on_text(std::string_view text) override {
    pieces.emplace_back(text);
    return text_flow(pieces.size());
  }
  std::string text() const {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
  }
};

GenerationResult run(Loaded& loaded, const std::vector<TokenId>& prompt, const GenerationSettings& settings) {
  Watcher watcher;
  Result<GenerationResult> result = loaded.generation->run(prompt, settings, watcher);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  if (!result.ok()) return {};
  EXPECT_EQ(watcher.text(), result->text);
  return *result;
}

GenerationSettings greedy(int64_t n) {
  GenerationSettings settings{.max_tokens = n, .end_tokens = EndTokens::kIgnore};
  settings.sampling.temperature = 0;
  return settings;
}

GenerationSettings sampled(int64_t n, uint64_t seed) {
  GenerationSettings settings{.seed = seed, .max_tokens = n, .end_tokens = EndTokens::kIgnore};
  settings.sampling = {.temperature = 1.5f, .top_k = 0, .top_p = 1, .min_p = 0};
  return settings;
}

std::vector<float> logits(const Runner& runner) {
  const std::span<const float> row = runner.logits(0);
  return {row.begin(), row.end()};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const std::vector<TokenId> kPrompt = {1, 93, 78, 96, 52, 223, 29, 278, 180, 72, 60, 21};

TEST(GenerationTest, GreedyIsTheReference) {
  for (const char* name : {"llama", "qwen3", "gemma3"}) {
    const Result<oracle::Case> reference = oracle::load_case(name);
    ASSERT_TRUE(reference.ok()) << reference.error().message;
    Loaded loaded = load(reference->model, {.kv_type = graph::KvType::kF32});
    const auto n = static_cast<int64_t>(reference->greedy.size());
    EXPECT_EQ(run(loaded, reference->prompt, greedy(n)).tokens, reference->greedy) << name;
  }
}

TEST(GenerationTest, SameSeedSameTokens) {
  Loaded loaded = load(model_path("llama"));
  const GenerationResult first = run(loaded, kPrompt, sampled(40, 7));
  EXPECT_EQ(first.tokens.size(), 40u);
  EXPECT_EQ(run(loaded, kPrompt, sampled(40, 7)).tokens, first.tokens);
  EXPECT_NE(run(loaded, kPrompt, sampled(40, 8)).tokens, first.tokens);
  GenerationSettings other_choice = sampled(40, 7);
  other_choice.choice = 1;
  EXPECT_NE(run(loaded, kPrompt, other_choice).tokens, first.tokens);
  Loaded fresh = load(model_path("llama"), {.max_batch_tokens = 3});
  EXPECT_EQ(run(fresh, kPrompt, sampled(40, 7)).tokens, first.tokens);
  // A shorter answer is the beginning of a longer one.
  const GenerationResult shorter = run(loaded, kPrompt, sampled(11, 7));
  EXPECT_TRUE(std::equal(shorter.tokens.begin(), shorter.tokens.end(), first.tokens.begin()));
  EXPECT_EQ(shorter.finish_reason, FinishReason::kLength);
}

TEST(GenerationTest, ReusedPrefixesGiveEqualBits) {
  for (const char* name : {"llama", "gemma3"}) {
    Loaded used = load(model_path(name));
    std::vector<TokenId> longer = kPrompt;
    const GenerationResult first = run(used, kPrompt, sampled(20, 3));
    longer.insert(longer.end(), first.tokens.begin(), first.tokens.end());
    longer.insert(longer.end(), {5, 6, 7});
    std::vector<TokenId> parted = longer;
    parted[17] ^= 1;
    const std::vector<TokenId> cut(longer.begin(), longer.begin() + 9);

    // A prompt that goes on, the same once more, one that parts in the middle, one that ends early.
    struct Turn {
      std::vector<TokenId> prompt;
      int64_t reused;
    };
    const auto n_longer = static_cast<int64_t>(longer.size());
    // The answer's last token was never fed, so a prompt that goes on reuses all but that.
    for (const Turn& turn : {Turn{longer, n_longer - 4}, Turn{longer, n_longer - 1}, Turn{parted, 17},
                             Turn{cut, 8}, Turn{kPrompt, 9}}) {
      Loaded fresh = load(model_path(name));
      const GenerationResult reused = run(used, turn.prompt, greedy(0));
      const GenerationResult afresh = run(fresh, turn.prompt, greedy(0));
      EXPECT_EQ(reused.reused_tokens, turn.reused);
      EXPECT_EQ(afresh.reused_tokens, 0);
      EXPECT_TRUE(same_bits(logits(*used.runner), logits(*fresh.runner))) << name;
      EXPECT_EQ(run(used, turn.prompt, sampled(0, 5)).tokens, run(fresh, turn.prompt, sampled(0, 5)).tokens);
    }
    // And the answers after reuse are those of a fresh sequence.
    Loaded fresh = load(model_path(name));
    EXPECT_EQ(run(used, longer, sampled(20, 5)).tokens, run(fresh, longer, sampled(20, 5)).tokens);
  }
}

TEST(GenerationTest, TheContextEnds) {
  Loaded loaded = load(model_path("llama"), {.ctx = 32});
  std::vector<TokenId> prompt(31, 20);
  const GenerationResult one = run(loaded, prompt, greedy(-1));
  EXPECT_EQ(one.tokens.size(), 1u);
  EXPECT_EQ(one.finish_reason, FinishReason::kLength);
  prompt.resize(20);
  const GenerationResult rest = run(loaded, prompt, greedy(100));
  EXPECT_EQ(rest.tokens.size(), 12u);
  EXPECT_EQ(rest.finish_reason, FinishReason::kLength);

  const int64_t n_steps = loaded.runner->n_steps();
  const std::vector<TokenId> held(loaded.generation->held().begin(), loaded.generation->held().end());
  for (const size_t n : {32, 33, 100}) {
    prompt.assign(n, 21);
    Watcher watcher;
    const Result<GenerationResult> result = loaded.generation->run(prompt, greedy(1), watcher);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kContextLength);
    EXPECT_NE(result.error().message.find(std::to_string(n) + " tokens"), std::string::npos);
    EXPECT_NE(result.error().message.find("32"), std::string::npos);
  }
  EXPECT_EQ(loaded.runner->n_steps(), n_steps);
  EXPECT_EQ(std::vector<TokenId>(loaded.generation->held().begin(), loaded.generation->held().end()), held);
}

TEST(GenerationTest, BadRequestsRunNothing) {
  Loaded loaded = load(model_path("llama"));
  GenerationSettings bad_stop = greedy(5), bad_length = greedy(-2), bad_sampling = greedy(5);
  bad_stop.stop = {""};
  bad_sampling.sampling.top_p = 2;
  const std::vector<TokenId> good = {1, 2}, empty, unknown = {1, 384}, negative = {-1};
  const std::vector<std::pair<std::vector<TokenId>, GenerationSettings>> requests = {
      {empty, greedy(5)}, {unknown, greedy(5)}, {negative, greedy(5)},
      {good, bad_stop},   {good, bad_length},   {good, bad_sampling}};
  for (const auto& [prompt, settings] : requests) {
    Watcher watcher;
    const Result<GenerationResult> result = loaded.generation->run(prompt, settings, watcher);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument) << result.error().message;
  }
  EXPECT_EQ(loaded.runner->n_steps(), 0);
}

TEST(GenerationTest, StopStringsAcrossTokens) {
  Loaded loaded = load(model_path("llama"));
  const GenerationResult whole = run(loaded, kPrompt, sampled(60, 11));
  int tried = 0;
  for (size_t begin = 5; begin + 6 < whole.text.size(); begin += 3) {
    const std::string stop = whole.text.substr(begin, 4);
    if (replace_invalid_utf8(stop) != stop) continue;  // cut inside a character
    GenerationSettings settings = sampled(60, 11);
    settings.stop = {"never said", stop};
    const GenerationResult stopped = run(loaded, kPrompt, settings);
    EXPECT_EQ(stopped.text, whole.text.substr(0, whole.text.find(stop)));
    EXPECT_EQ(stopped.finish_reason, FinishReason::kStop);
    EXPECT_LE(stopped.tokens.size(), whole.tokens.size());
    ++tried;
  }
  EXPECT_GT(tried, 3);
}

TEST(GenerationTest, TextIsWholeCharacters) {
  Loaded loaded = load(model_path("llama"));  // its vocabulary has single bytes
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Watcher watcher;
    const Result<GenerationResult> result = loaded.generation->run(kPrompt, sampled(60, seed), watcher);
    ASSERT_TRUE(result.ok());
    for (const std::string& piece : watcher.pieces) EXPECT_EQ(replace_invalid_utf8(piece), piece);
    const DecodeOptions as_continuation{.leading_space = LeadingSpace::kKeep};
    EXPECT_EQ(watcher.text(),
              replace_invalid_utf8(*loaded.tokenizer->decode(result->tokens, as_continuation)));
  }
}

TEST(GenerationTest, EndTokensEndTheAnswer) {
  Loaded loaded = load(model_path("llama"));
  ASSERT_FALSE(loaded.tokenizer->end_of_generation().empty());
  GenerationSettings settings = greedy(20);
  settings.end_tokens = EndTokens::kStop;
  const TokenId end = loaded.tokenizer->end_of_generation()[0];
  settings.sampling.logit_bias = {{.token = end, .bias = 1000}};
  const GenerationResult ended = run(loaded, kPrompt, settings);
  EXPECT_EQ(ended.finish_reason, FinishReason::kStop);
  EXPECT_TRUE(ended.tokens.empty());
  settings.end_tokens = EndTokens::kIgnore;
  const GenerationResult ignored = run(loaded, kPrompt, settings);
  EXPECT_EQ(ignored.finish_reason, FinishReason::kLength);
  EXPECT_EQ(ignored.tokens, std::vector<TokenId>(20, end));
}

TEST(GenerationTest, CancelledAnswersLeaveTheSequenceUsable) {
  Loaded loaded = load(model_path("llama"), {.max_batch_tokens = 4});
  Loaded fresh = load(model_path("llama"));
  const GenerationResult whole = run(fresh, kPrompt, sampled(30, 2));
  Watcher watcher;
  watcher.text_flow = [](size_t calls) { return calls == 5 ? Flow::kCancel : Flow::kContinue; };
  const Result<GenerationResult> part = loaded.generation->run(kPrompt, sampled(30, 2), watcher);
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(part->tokens, std::vector<TokenId>(whole.tokens.begin(), whole.tokens.begin() + 5));
  EXPECT_EQ(run(loaded, kPrompt, sampled(30, 2)).tokens, whole.tokens);

  // While the prompt is read.
  Watcher early;
  early.prompt_flow = [](int64_t done) { return done >= 8 ? Flow::kCancel : Flow::kContinue; };
  std::vector<TokenId> other = kPrompt;
  other[0] = 2;
  const Result<GenerationResult> none = loaded.generation->run(other, sampled(30, 2), early);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->finish_reason, FinishReason::kCancelled);
  EXPECT_TRUE(none->tokens.empty());
  EXPECT_EQ(early.prompt_parts, (std::vector<int64_t>{4, 8}));
  EXPECT_EQ(loaded.generation->held().size(), 8u);
  EXPECT_EQ(run(loaded, kPrompt, sampled(30, 2)).tokens, whole.tokens);
}

TEST(GenerationTest, PenaltiesSeeThePrompt) {
  Loaded loaded = load(model_path("llama"));
  GenerationSettings settings = greedy(12);
  settings.sampling.presence_penalty = 1000;
  settings.sampling.penalty_window = -1;
  std::vector<TokenId> seen = kPrompt;
  for (const TokenId id : run(loaded, kPrompt, settings).tokens) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), id), 0) << id;
    seen.push_back(id);
  }
}

TEST(GenerationTest, OneSequenceEach) {
  Loaded loaded = load(model_path("llama"));
  const auto second = Generation::create(*loaded.runner, *loaded.tokenizer);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kResourceExhausted);
  loaded.generation.reset();
  EXPECT_TRUE(Generation::create(*loaded.runner, *loaded.tokenizer).ok());
}

}  // namespace
}  // namespace quire
