// The engine from outside: every answer is the one given alone, every request ends exactly once.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <latch>
#include <random>
#include <thread>

#include "engine_case.h"

namespace quire {
namespace {

using testing::Alone;
using testing::collect;
using testing::greedy;
using testing::make_engine;
using testing::sampled;
using testing::some_prompt;

using testing::load;

constexpr int64_t kContext = 160;

AnswerHandle submit(Engine& engine, Request request) {
  Result<AnswerHandle> answer = engine.submit(std::move(request));
  if (!answer.ok()) ADD_FAILURE() << answer.error().message;
  return std::move(*answer);
}

// What refuses the request.
Error refusal(Engine& engine, Request request) {
  Result<AnswerHandle> answer = engine.submit(std::move(request));
  EXPECT_FALSE(answer.ok());
  return answer.ok() ? Error{} : answer.error();
}

void expect_no_page_held(const Engine& engine) {
  const EngineGauges gauges = engine.gauges();
  EXPECT_EQ(gauges.queued, 0);
  EXPECT_EQ(gauges.running, 0);
  for (int32_t g = 0; g < gauges.memory.n_groups; ++g)
    EXPECT_EQ(gauges.memory.groups[static_cast<size_t>(g)].held, 0);
}

class EngineModels : public ::testing::TestWithParam<const char*> {};

TEST_P(EngineModels, AnswersManyAtOnceAsEachAlone) {
  Alone alone(GetParam(), kContext);
  const auto engine =
      make_engine(GetParam(), {.ctx = kContext, .max_sequences = 8, .max_batch_tokens = 40, .threads = 2});
  ASSERT_NE(engine, nullptr);
  std::vector<AnswerHandle> answers;
  std::vector<std::vector<int32_t>> expected;
  for (int32_t i = 0; i < 24; ++i) {
    std::vector<int32_t> prompt =
        some_prompt(static_cast<size_t>(20 + i % 3 * 16), i % 2);  // shared beginnings
    const std::vector<int32_t> own = some_prompt(static_cast<size_t>(1 + i * 7 % 60), 100 + i);
    prompt.insert(prompt.end(), own.begin(), own.end());
    const GenerationSettings settings =
        i % 3 == 0 ? greedy(10 + i) : sampled(10 + i, static_cast<uint64_t>(i));
    expected.push_back(alone.answer(prompt, settings));
    answers.push_back(submit(*engine, {.prompt = prompt, .settings = settings}));
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(collect(answers[i]), expected[i]) << "request " << i;
    EXPECT_EQ(answers[i].outcome().reason, FinishReason::kLength);
    EXPECT_EQ(answers[i].outcome().usage.answer_tokens, static_cast<int64_t>(expected[i].size()));
  }
  engine->drain();
  EXPECT_GT(engine->gauges().memory.positions_shared, 0);
  EXPECT_GT(engine->gauges().schedule.chunked_prompts, 0);
  expect_no_page_held(*engine);
}

// A pool too small for all, and a third of the requests given up at any time.
void answer_through_preemption_and_cancels(const std::string& model, Preemption preemption) {
  Alone alone(model, kContext);
  const auto engine = make_engine(model,
                                  {.ctx = kContext,
                                   .max_sequences = 6,
                                   .max_batch_tokens = 48,
                                   .kv_pages = 20,
                                   .spill_pages = 20,
                                   .threads = 2},
                                  {.decode_reserve = 4, .preemption = preemption});
  ASSERT_NE(engine, nullptr);
  std::mt19937 random(5);
  constexpr int32_t kRequests = 60;
  std::vector<AnswerHandle> answers;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<GenerationSettings> settings;
  std::vector<std::vector<int32_t>> read(kRequests);
  for (int32_t i = 0; i < kRequests; ++i) {
    prompts.push_back(some_prompt(5 + random() % 60, i % 7));
    settings.push_back(sampled(40 + static_cast<int64_t>(random() % 50), static_cast<uint64_t>(i)));
    answers.push_back(submit(*engine, {.prompt = prompts.back(), .settings = settings.back()}));
    if (i % 3 == 0) {
      const size_t given_up = random() % answers.size();
      if (random() % 2 == 0) {
        for (const SampledToken& token : answers[given_up].next()) read[given_up].push_back(token.id);
      }
      answers[given_up].cancel();
      answers[given_up].cancel();
    }
  }
  int n_cancelled = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::vector<int32_t> all = alone.answer(prompts[i], settings[i]);
    const std::vector<int32_t> rest = collect(answers[i]);
    read[i].insert(read[i].end(), rest.begin(), rest.end());
    const Outcome& outcome = answers[i].outcome();
    ASSERT_LE(read[i].size(), all.size());
    EXPECT_TRUE(std::equal(read[i].begin(), read[i].end(), all.begin())) << "request " << i;
    EXPECT_EQ(outcome.usage.answer_tokens, static_cast<int64_t>(read[i].size()));
    if (outcome.reason == FinishReason::kCancelled) {
      ++n_cancelled;
    } else {
      EXPECT_EQ(outcome.reason, FinishReason::kLength);
      EXPECT_EQ(read[i].size(), all.size());
    }
  }
  EXPECT_GT(n_cancelled, 0);
  engine->drain();
  const EngineGauges gauges = engine->gauges();
  EXPECT_GT(gauges.schedule.preemptions, 0);
  EXPECT_EQ(gauges.memory.restores > 0, preemption == Preemption::kSpill);
  expect_no_page_held(*engine);
}

TEST_P(EngineModels, AnswersAsAloneThroughPreemptionAndCancels) {
  answer_through_preemption_and_cancels(GetParam(), Preemption::kRecompute);
}

TEST_P(EngineModels, AnswersAsAloneThroughSpillingAndCancels) {
  answer_through_preemption_and_cancels(GetParam(), Preemption::kSpill);
}

INSTANTIATE_TEST_SUITE_P(Tiny, EngineModels, ::testing::Values("llama", "gemma3", "qwen3"),
                         [](const auto& param) { return std::string(param.param); });

TEST(Engine, RefusesWhatCannotRun) {
  const auto engine = make_engine("llama", {.ctx = kContext, .threads = 1}, {.n_tenants = 2});
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(refusal(*engine, {}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(*engine, {.prompt = {1, 1 << 20}}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(*engine, {.prompt = {-1}}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(*engine, {.prompt = {1}, .tenant = 2}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(*engine, {.prompt = {1}, .settings = {.max_tokens = -2}}).code,
            ErrorCode::kInvalidArgument);
  Request hot{.prompt = {1}};
  hot.settings.sampling.temperature = -1;
  EXPECT_EQ(refusal(*engine, hot).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(*engine, {.prompt = some_prompt(kContext, 1)}).code, ErrorCode::kContextLength);
}

TEST(Engine, FillsItsContextAndNoMore) {
  const auto engine = make_engine("llama", {.ctx = kContext, .threads = 1});
  ASSERT_NE(engine, nullptr);
  AnswerHandle one = submit(*engine, {.prompt = some_prompt(kContext - 1, 1), .settings = greedy(-1)});
  AnswerHandle all = submit(*engine, {.prompt = some_prompt(1, 1), .settings = greedy(-1)});
  AnswerHandle none = submit(*engine, {.prompt = some_prompt(5, 1), .settings = greedy(0)});
  EXPECT_EQ(collect(one).size(), 1u);
  EXPECT_EQ(collect(all).size(), static_cast<size_t>(kContext - 1));
  EXPECT_EQ(collect(none).size(), 0u);
  for (const AnswerHandle* answer : {&one, &all, &none})
    EXPECT_EQ(answer->outcome().reason, FinishReason::kLength);
}

TEST(Engine, EndsAtAnEndToken) {
  Alone alone("llama", kContext);
  const std::vector<int32_t> prompt = some_prompt(12, 4);
  const std::vector<int32_t> all = alone.answer(prompt, sampled(30, 9));
  const int32_t end = all[20];
  const auto first = static_cast<size_t>(std::ranges::find(all, end) - all.begin());
  const auto engine = make_engine("llama", {.ctx = kContext, .threads = 1}, {.end_tokens = {end}});
  ASSERT_NE(engine, nullptr);
  GenerationSettings settings = sampled(30, 9);
  settings.end_tokens = EndTokens::kStop;
  AnswerHandle answer = submit(*engine, {.prompt = prompt, .settings = settings});
  EXPECT_EQ(collect(answer),
            std::vector<int32_t>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first)));
  EXPECT_EQ(answer.outcome().reason, FinishReason::kStop);
}

TEST(Engine, AFullQueueRefusesClearlyAndRecovers) {
  const auto engine = make_engine("llama", {.ctx = kContext, .threads = 1}, {.max_queued = 3});
  ASSERT_NE(engine, nullptr);
  std::vector<AnswerHandle> answers;
  std::optional<Error> error;
  for (int i = 0; i < 200 && !error; ++i) {
    Result<AnswerHandle> answer = engine->submit({.prompt = some_prompt(30, i), .settings = greedy(100)});
    if (answer.ok()) {
      answers.push_back(std::move(*answer));
    } else {
      error = answer.error();
    }
  }
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, ErrorCode::kResourceExhausted);
  EXPECT_NE(error->message.find("waiting"), std::string::npos);
  for (AnswerHandle& answer : answers) EXPECT_EQ(collect(answer).size(), 100u);
  AnswerHandle after = submit(*engine, {.prompt = some_prompt(5, 1), .settings = greedy(3)});
  EXPECT_EQ(collect(after).size(), 3u);
}

TEST(Engine, ARequestThatIsLateEnds) {
  // So much may wait to be read that the one that runs keeps the only place, whenever it is read.
  const auto engine = make_engine("llama", {.ctx = 16384, .threads = 1}, {.max_unread = 16384});
  ASSERT_NE(engine, nullptr);
  AnswerHandle running = submit(
      *engine,
      {.prompt = some_prompt(5, 1), .settings = greedy(-1), .deadline = std::chrono::milliseconds(150)});
  AnswerHandle queued =
      submit(*engine,
             {.prompt = some_prompt(5, 2), .settings = greedy(-1), .deadline = std::chrono::milliseconds(1)});
  collect(running);
  collect(queued);
  EXPECT_EQ(running.outcome().reason, FinishReason::kDeadline);
  EXPECT_EQ(queued.outcome().reason, FinishReason::kDeadline);
  EXPECT_EQ(queued.outcome().usage.answer_tokens, 0);
  engine->drain();
  expect_no_page_held(*engine);
}

TEST(Engine, ASlowReaderPausesOnlyItself) {
  Alone alone("llama", kContext);
  const auto engine =
      make_engine("llama", {.ctx = kContext, .max_sequences = 2, .threads = 1}, {.max_unread = 4});
  ASSERT_NE(engine, nullptr);
  AnswerHandle slow = submit(*engine, {.prompt = some_prompt(9, 1), .settings = greedy(50)});
  AnswerHandle quick = submit(*engine, {.prompt = some_prompt(9, 2), .settings = greedy(60)});
  EXPECT_EQ(collect(quick).size(), 60u);
  EXPECT_FALSE(slow.ended());
  EXPECT_EQ(collect(slow), alone.answer(some_prompt(9, 1), greedy(50)));
}

TEST(Engine, ASlowReaderHoldsNoPlaceThatOthersWaitFor) {
  Alone alone("llama", kContext);
  const auto engine = make_engine("llama", {.ctx = kContext, .threads = 1}, {.max_unread = 4});
  ASSERT_NE(engine, nullptr);
  AnswerHandle slow = submit(*engine, {.prompt = some_prompt(9, 1), .settings = greedy(50)});
  AnswerHandle quick = submit(*engine, {.prompt = some_prompt(9, 2), .settings = greedy(60)});
  EXPECT_EQ(collect(quick), alone.answer(some_prompt(9, 2), greedy(60)));
  EXPECT_FALSE(slow.ended());
  EXPECT_EQ(collect(slow), alone.answer(some_prompt(9, 1), greedy(50)));
  EXPECT_EQ(slow.outcome().usage.preemptions, 1);
}

// CPU time of the whole process.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(Engine, DrainingAStreamThatWaitsForItsReaderTakesNoTime) {
  const auto engine = make_engine("llama", {.ctx = kContext, .threads = 1}, {.max_unread = 4});
  ASSERT_NE(engine, nullptr);
  AnswerHandle slow = submit(*engine, {.prompt = some_prompt(9, 1), .settings = greedy(50)});
  std::thread drains([&] { engine->drain(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(cpu_seconds() - before, 0.2);
  EXPECT_EQ(collect(slow).size(), 50u);
  drains.join();
}

// Room for two long answers, of 100 tokens with twenty likeliest beside each.
TEST(Engine, AnswersTakeNoMoreMemoryThanPlanned) {
  const uint64_t planned = 50'000;
  const auto engine = make_engine("llama", {.ctx = kContext, .answer_bytes = planned, .threads = 1});
  ASSERT_NE(engine, nullptr);
  const auto asked = [](int64_t n) {
    Request request{.prompt = some_prompt(9, 1), .settings = greedy(n)};
    request.settings.top_logprobs = 20;
    return request;
  };
  {
    AnswerHandle first = submit(*engine, asked(100));
    AnswerHandle second = submit(*engine, asked(100));
    EXPECT_GT(engine->gauges().answer_bytes, 2u * 100 * (4 + 8 + 20 * 8));
    const Error full = refusal(*engine, asked(100));
    EXPECT_EQ(full.code, ErrorCode::kResourceExhausted);
    EXPECT_NE(full.message.find("try again"), std::string::npos) << full.message;
    AnswerHandle small = submit(*engine, asked(10));
    EXPECT_LE(engine->gauges().answer_bytes, planned);
    for (AnswerHandle* answer : {&first, &second, &small}) collect(*answer);
    EXPECT_EQ(first.outcome().usage.answer_tokens, 100);
    EXPECT_GT(engine->gauges().answer_bytes, 0u);  // as long as somebody may read them
  }
  engine->drain();
  EXPECT_EQ(engine->gauges().answer_bytes, 0u);
}

TEST(Engine, ARequestThatAloneTakesTooMuchMemoryIsRefusedForGood) {
  const auto engine = make_engine("llama", {.ctx = kContext, .answer_bytes = 4'000, .threads = 1});
  ASSERT_NE(engine, nullptr);
  Request request{.prompt = some_prompt(9, 1), .settings = greedy(100)};
  AnswerHandle plain = submit(*engine, request);
  request.settings.top_logprobs = 20;
  EXPECT_EQ(refusal(*engine, request).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(collect(plain).size(), 100u);
}

// A request waits while the queue is full, or is refused: neither leaves anything behind.
TEST(Engine, WhatIsRefusedTakesNoMemory) {
  const auto engine =
      make_engine("llama", {.ctx = kContext, .threads = 1}, {.max_queued = 1, .max_unread = 4});
  ASSERT_NE(engine, nullptr);
  std::vector<AnswerHandle> answers;
  for (;;) {
    Result<AnswerHandle> answer = engine->submit({.prompt = some_prompt(9, 1), .settings = greedy(100)});
    if (!answer.ok()) break;
    answers.push_back(std::move(*answer));
    ASSERT_LT(answers.size(), 100u);
  }
  const size_t held = engine->gauges().answer_bytes;
  EXPECT_EQ(refusal(*engine, {.prompt = some_prompt(9, 1), .settings = greedy(100)}).code,
            ErrorCode::kResourceExhausted);
  EXPECT_EQ(engine->gauges().answer_bytes, held);
}

TEST(Engine, LettingGoOfAHandleCancels) {
  const auto engine = make_engine("llama", {.ctx = 4096, .threads = 1});
  ASSERT_NE(engine, nullptr);
  { AnswerHandle dropped = submit(*engine, {.prompt = some_prompt(5, 1), .settings = greedy(-1)}); }
  AnswerHandle next = submit(*engine, {.prompt = some_prompt(5, 2), .settings = greedy(5)});
  EXPECT_EQ(collect(next).size(), 5u);  // there is one sequence: it was free again
  engine->drain();
  expect_no_page_held(*engine);
}

TEST(Engine, OneRequestThatFailsHarmsNoOther) {
  Alone alone("llama", kContext);
  const auto engine = make_engine("llama", {.ctx = kContext, .max_sequences = 2, .threads = 1});
  ASSERT_NE(engine, nullptr);
  Request impossible{.prompt = some_prompt(9, 1), .settings = greedy(20)};
  for (int32_t id = 0; id < alone.n_vocab(); ++id) impossible.settings.sampling.suppress.push_back(id);
  AnswerHandle failing = submit(*engine, std::move(impossible));
  AnswerHandle other = submit(*engine, {.prompt = some_prompt(9, 2), .settings = sampled(20, 1)});
  EXPECT_TRUE(collect(failing).empty());
  EXPECT_EQ(failing.outcome().reason, FinishReason::kFailed);
  ASSERT_TRUE(failing.outcome().error.has_value());
  EXPECT_EQ(failing.outcome().error->code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(collect(other), alone.answer(some_prompt(9, 2), sampled(20, 1)));
}

// Forks one request's sequence between two of its steps, so that its next token needs a copy of its last page
// that nobody has counted. That request's first token waits for go(), so that all requests are there by then.
class ForkAt final : public LogitsObserver {
 public:
  ForkAt(SequenceMemory& memory, SequenceId sequence, int64_t position)
      : memory_(memory), sequence_(sequence), position_(position) {}
  void on_logits(uint64_t tag, int64_t position, std::span<const float>) override {
    if (tag == 1) all_submitted_.wait();
    if (tag != 1 || position != position_ || fork_.index >= 0) return;
    const Result<SequenceId> fork = memory_.fork(sequence_);
    ASSERT_TRUE(fork.ok());
    fork_ = *fork;
  }
  void go() { all_submitted_.count_down(); }
  void let_go() {
    if (fork_.index >= 0) memory_.close(std::exchange(fork_, {}));
  }

 private:
  std::latch all_submitted_{1};
  SequenceMemory& memory_;
  SequenceId sequence_, fork_;
  int64_t position_;
};

// Twelve pages: the older request has three when its next token needs a copy, the younger ones all others.
TEST(Engine, AStepThatFindsTooFewPagesCostsTheYoungestItsOwn) {
  Alone alone("llama", kContext);
  std::unique_ptr<Runner> runner =
      load(testing::model_file("llama"),
           {.ctx = kContext, .max_sequences = 4, .max_batch_tokens = 64, .kv_pages = 12, .threads = 1});
  ASSERT_NE(runner, nullptr);
  SequenceMemory& memory = runner->memory_module();
  ForkAt observer(memory, SequenceId{0}, 40);
  Result<std::unique_ptr<Engine>> engine = Engine::create(
      std::move(runner), {.max_token_gap = {}, .decode_reserve = 1, .max_unread = 0, .observer = &observer});
  ASSERT_TRUE(engine.ok());
  const std::vector<size_t> lengths = {34, 66, 52};
  std::vector<AnswerHandle> answers;
  for (size_t i = 0; i < lengths.size(); ++i) {
    Request request{.prompt = some_prompt(lengths[i], static_cast<int32_t>(i)), .settings = greedy(12)};
    request.tag = i + 1;
    answers.push_back(submit(**engine, std::move(request)));
  }
  observer.go();
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(collect(answers[i]),
              alone.answer(some_prompt(lengths[i], static_cast<int32_t>(i)), greedy(12)));
    EXPECT_EQ(answers[i].outcome().reason, FinishReason::kLength);
  }
  (*engine)->drain();
  EXPECT_EQ((*engine)->gauges().schedule.refused_steps, 1);
  EXPECT_GT((*engine)->gauges().argmax_rows, 0);
  EXPECT_EQ(answers[0].outcome().usage.preemptions, 0);
  EXPECT_EQ(answers[1].outcome().usage.preemptions, 0);
  EXPECT_EQ(answers[2].outcome().usage.preemptions, 1);
  observer.let_go();
  EXPECT_EQ(memory.gauges().groups[0].held, 0);
}

// Eight pages of which a stranger holds five: the request is alone, and a copy of its last page does not fit.
TEST(Engine, OnlyARequestThatCannotGoOnAloneFailsForLackOfPages) {
  Alone alone("llama", kContext);
  std::unique_ptr<Runner> runner =
      load(testing::model_file("llama"),
           {.ctx = kContext, .max_sequences = 4, .max_batch_tokens = 80, .kv_pages = 8, .threads = 1});
  ASSERT_NE(runner, nullptr);
  SequenceMemory& memory = runner->memory_module();
  const SequenceId stranger = *runner->open();
  ASSERT_TRUE(runner->feed(stranger, some_prompt(80, 9)).ok());
  ForkAt observer(memory, SequenceId{1}, 40);
  Result<std::unique_ptr<Engine>> engine = Engine::create(
      std::move(runner), {.max_token_gap = {}, .decode_reserve = 1, .max_unread = 0, .observer = &observer});
  ASSERT_TRUE(engine.ok());
  int n_changes = 0;
  Request failing{.prompt = some_prompt(36, 1), .settings = greedy(12), .tag = 1};
  failing.on_change = [&] {
    if (++n_changes < 7) return;  // six tokens, then its end
    observer.let_go();
    memory.close(stranger);
  };
  AnswerHandle first = submit(**engine, std::move(failing));
  AnswerHandle next = submit(**engine, {.prompt = some_prompt(70, 2), .settings = greedy(12), .tag = 2});
  observer.go();
  EXPECT_EQ(collect(first).size(), 6u);
  EXPECT_EQ(first.outcome().reason, FinishReason::kFailed);
  ASSERT_TRUE(first.outcome().error.has_value());
  EXPECT_EQ(first.outcome().error->code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(collect(next), alone.answer(some_prompt(70, 2), greedy(12)));
  EXPECT_EQ(next.outcome().reason, FinishReason::kLength);
  (*engine)->drain();
  EXPECT_EQ((*engine)->gauges().schedule.refused_steps, 0);
  expect_no_page_held(**engine);
}

TEST(Engine, DrainingFinishesWhatWasAskedAndRefusesMore) {
  const auto engine = make_engine("llama", {.ctx = kContext, .max_sequences = 2, .threads = 1});
  ASSERT_NE(engine, nullptr);
  std::vector<AnswerHandle> answers;
  for (int32_t i = 0; i < 6; ++i)
    answers.push_back(submit(*engine, {.prompt = some_prompt(9, i), .settings = greedy(20)}));
  engine->drain();
  for (AnswerHandle& answer : answers) {
    EXPECT_TRUE(answer.ended());
    EXPECT_EQ(collect(answer).size(), 20u);
  }
  EXPECT_EQ(refusal(*engine, {.prompt = {1}}).code, ErrorCode::kCancelled);
}

TEST(Engine, WhatHasNotEndedWhenItGoesIsCancelled) {
  std::optional<AnswerHandle> answer;
  {
    const auto engine = make_engine("llama", {.ctx = 4096, .threads = 1});
    ASSERT_NE(engine, nullptr);
    answer = submit(*engine, {.prompt = some_prompt(9, 1), .settings = greedy(-1)});
  }
  collect(*answer);
  EXPECT_EQ(answer->outcome().reason, FinishReason::kCancelled);
}

}  // namespace
}  // namespace quire
