// Many requests of all kinds at once, given up at any moment, read late, preempted and spilled: every answer,
// or what there is of it, is the one given alone, and nothing is held afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "engine_case.h"

#ifndef QUIRE_SOAK_REQUESTS
#define QUIRE_SOAK_REQUESTS 150
#endif

namespace quire {
namespace {

using namespace testing;  // the helpers of engine_case.h

constexpr int64_t kContext = 160;
constexpr int32_t kTenants = 3;

// What can be asked, with the whole answer.
struct Question {
  std::vector<int32_t> prompt;
  GenerationSettings settings;
  std::vector<int32_t> answer;
};

std::vector<Question> make_questions(const std::string& model) {
  Alone alone(model, kContext);
  std::mt19937 random(3);
  std::vector<Question> questions;
  for (int32_t i = 0; i < 24; ++i) {
    Question& made = questions.emplace_back();
    made.prompt = some_prompt(random() % 50, i % 4);  // common beginnings of all lengths
    const std::vector<int32_t> own = some_prompt(1 + random() % 40, 100 + i);
    made.prompt.insert(made.prompt.end(), own.begin(), own.end());
    const auto n = static_cast<int64_t>(1 + random() % 60);
    made.settings = i % 2 == 0 ? greedy(n) : sampled(n, static_cast<uint64_t>(i));
    made.answer = alone.answer(made.prompt, made.settings);
  }
  return questions;
}

struct Asked {
  const Question* question;
  AnswerHandle handle;
  std::vector<int32_t> read = {};
};

// What there is now.
void read_on(Asked& asked) {
  for (auto tokens = asked.handle.take(); !tokens.empty(); tokens = asked.handle.take()) {
    for (const SampledToken& token : tokens) asked.read.push_back(token.id);
  }
}

struct Soaked {
  const char* model;
  Preemption preemption;
};
class EngineSoak : public ::testing::TestWithParam<Soaked> {};

TEST_P(EngineSoak, EveryAnswerIsTheOneGivenAlone) {
  const std::vector<Question> questions = make_questions(GetParam().model);
  const auto engine = make_engine(GetParam().model,
                                  {.ctx = kContext,
                                   .max_sequences = 6,
                                   .max_batch_tokens = 48,
                                   .kv_pages = 18,
                                   .spill_pages = 12,
                                   .threads = 2},
                                  {.n_tenants = kTenants,
                                   .ageing = std::chrono::milliseconds(5),
                                   .decode_reserve = 2,
                                   .preemption = GetParam().preemption,
                                   .max_unread = 8});
  ASSERT_NE(engine, nullptr);
  std::mt19937 random(7);
  std::vector<Asked> live;
  int64_t n_whole = 0, n_cancelled = 0, n_late = 0;
  // Everybody reads on meanwhile: who does not keeps a place.
  const auto finish = [&](Asked asked) {
    while (!asked.handle.ended()) {
      read_on(asked);
      for (Asked& other : live) read_on(other);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    read_on(asked);
    const Outcome& outcome = asked.handle.outcome();
    const std::vector<int32_t>& all = asked.question->answer;
    ASSERT_LE(asked.read.size(), all.size());
    EXPECT_TRUE(std::equal(asked.read.begin(), asked.read.end(), all.begin()));
    EXPECT_EQ(outcome.usage.answer_tokens, static_cast<int64_t>(asked.read.size()));
    n_cancelled += outcome.reason == FinishReason::kCancelled ? 1 : 0;
    n_late += outcome.reason == FinishReason::kDeadline ? 1 : 0;
    if (outcome.reason == FinishReason::kLength) {
      ++n_whole;
      EXPECT_EQ(asked.read, all);
    }
  };
  for (int i = 0; i < QUIRE_SOAK_REQUESTS; ++i) {
    const Question& question = questions[random() % questions.size()];
    Request request{.prompt = question.prompt,
                    .settings = question.settings,
                    .tenant = static_cast<int32_t>(random() % kTenants),
                    .priority = static_cast<Priority>(random() % kPriorities)};
    if (random() % 10 == 0) request.deadline = std::chrono::milliseconds(random() % 20);
    Result<AnswerHandle> handle = engine->submit(std::move(request));
    ASSERT_TRUE(handle.ok()) << handle.error().message;
    live.push_back({.question = &question, .handle = std::move(*handle)});
    Asked& some = live[random() % live.size()];
    if (random() % 2 == 0) read_on(some);
    if (random() % 4 == 0) some.handle.cancel();
    while (live.size() > 16) {
      const size_t done = random() % live.size();
      std::swap(live[done], live.back());
      Asked last = std::move(live.back());
      live.pop_back();
      finish(std::move(last));
    }
  }
  while (!live.empty()) {
    Asked last = std::move(live.back());
    live.pop_back();
    finish(std::move(last));
  }
  engine->drain();
  const EngineGauges gauges = engine->gauges();
  EXPECT_GT(n_whole, QUIRE_SOAK_REQUESTS / 4);
  EXPECT_GT(n_cancelled, 0);
  EXPECT_GT(gauges.schedule.preemptions, 0);
  EXPECT_GT(gauges.memory.positions_shared, 0);
  if (GetParam().preemption == Preemption::kSpill) EXPECT_GT(gauges.memory.restores, 0);
  for (int32_t g = 0; g < gauges.memory.n_groups; ++g) {
    EXPECT_EQ(gauges.memory.groups[static_cast<size_t>(g)].held, 0);
    EXPECT_EQ(gauges.memory.groups[static_cast<size_t>(g)].spilled, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, EngineSoak,
                         ::testing::Values(Soaked{"llama", Preemption::kSpill},
                                           Soaked{"gemma3", Preemption::kSpill},
                                           Soaked{"gemma3", Preemption::kRecompute}),
                         [](const auto& param) {
                           return std::string(param.param.model) +
                                  (param.param.preemption == Preemption::kSpill ? "Spilling" : "Recomputing");
                         });

}  // namespace
}  // namespace quire
