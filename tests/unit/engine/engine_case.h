// Engines over tiny models, and what their answers must be: those of Generation, alone on a runner of its
// own.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/generation.h"
#include "tiny_model.h"
#include "tokenizer/tokenizer.h"

namespace quire::testing {

inline std::unique_ptr<Engine> make_engine(const std::string& model, const EngineSettings& settings,
                                           const EngineOptions& options = {}) {
  std::unique_ptr<Runner> runner = load(model_file(model), settings);
  if (runner == nullptr) return nullptr;
  Result<std::unique_ptr<Engine>> engine = Engine::create(std::move(runner), options);
  EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().message);
  return engine.ok() ? std::move(*engine) : nullptr;
}

// Answers given alone, one after the other, with no page shared.
class Alone {
 public:
  Alone(const std::string& model, int64_t ctx)
      : runner_(load(model_file(model), {.ctx = ctx, .threads = 1, .off = {"prefix-cache"}})),
        tokenizer_(std::move(*Tokenizer::load(runner_->model().file().metadata(), log_))) {}

  std::vector<int32_t> answer(const std::vector<int32_t>& prompt, const GenerationSettings& settings) {
    GenerationObserver nobody;
    std::unique_ptr<Generation> generation = std::move(*Generation::create(*runner_, *tokenizer_));
    Result<GenerationResult> result = generation->run(prompt, settings, nobody);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result->tokens : std::vector<int32_t>{};
  }
  int64_t n_vocab() const { return runner_->model().n_vocab(); }

 private:
  NullLogSink log_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

// Waits for the end.
inline std::vector<int32_t> collect(AnswerHandle& answer) {
  std::vector<int32_t> ids;
  for (auto tokens = answer.next(); !tokens.empty(); tokens = answer.next()) {
    for (const SampledToken& token : tokens) ids.push_back(token.id);
  }
  EXPECT_TRUE(answer.ended());
  return ids;
}

inline GenerationSettings greedy(int64_t n) {
  GenerationSettings settings{.max_tokens = n, .end_tokens = EndTokens::kIgnore};
  settings.sampling.temperature = 0;
  return settings;
}

inline GenerationSettings sampled(int64_t n, uint64_t seed) {
  GenerationSettings settings{.seed = seed, .max_tokens = n, .end_tokens = EndTokens::kIgnore};
  settings.sampling = {.temperature = 1.5f, .top_k = 0, .top_p = 1, .min_p = 0, .logprob = Logprob::kSkip};
  return settings;
}

// n ids from 3 on, of a vocabulary of at least 100, different for every seed.
inline std::vector<int32_t> some_prompt(size_t n, int32_t seed) {
  std::vector<int32_t> ids(n);
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (int32_t& id : ids) {
    state = state * 1664525u + 1013904223u;
    id = 3 + static_cast<int32_t>((state >> 16) % 90);
  }
  return ids;
}

}  // namespace quire::testing
