// What is read of prompts equals, bit for bit, what one step over the whole prompt gives, whoever shares the
// steps, however few rows there are and whatever is preempted.
#include "engine/prompt_reading.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "engine_case.h"
#include "sampling/log_softmax.h"

namespace quire {
namespace {

using testing::collect;
using testing::greedy;
using testing::load;
using testing::make_engine;
using testing::model_file;
using testing::sampled;
using testing::some_prompt;

constexpr int64_t kContext = 160;
constexpr int32_t kTop = 3;

std::vector<uint32_t> bits(std::span<const float> values) {
  std::vector<uint32_t> out;
  for (const float value : values) out.push_back(std::bit_cast<uint32_t>(value));
  return out;
}

// One step over the whole prompt, on a runner of its own.
class InOneStep {
 public:
  explicit InOneStep(const std::string& model)
      : runner_(load(model_file(model), {.ctx = kContext,
                                         .max_outputs = kContext,
                                         .prompt_rows = 1,
                                         .threads = 1,
                                         .off = {"prefix-cache"}})) {}

  PromptRecord read(PromptReading reading, const std::vector<int32_t>& prompt) {
    PromptRecord record(reading, prompt, {.n_top = kTop, .n_hidden = runner_->model().n_hidden()});
    const SequenceId sequence = *runner_->open();
    const BatchItem item{.sequence = sequence, .tokens = prompt, .logits = Logits::kAll};
    EXPECT_TRUE(runner_->step({&item, 1}).ok());
    for (int64_t i = 0; i < static_cast<int64_t>(prompt.size()); ++i) {
      if (!record.wants(i)) continue;
      if (reads_state(reading)) {
        record.take_state(i, runner_->state(i));
      } else {
        record.take_logits(i, prompt, runner_->logits(i));
      }
    }
    record.taken(static_cast<int64_t>(prompt.size()));
    runner_->close(sequence);
    return record;
  }

 private:
  std::unique_ptr<Runner> runner_;
};

void expect_equal(const PromptRecord& record, const PromptRecord& expected) {
  EXPECT_EQ(bits(record.logprobs()), bits(expected.logprobs()));
  EXPECT_EQ(bits(record.state()), bits(expected.state()));
  for (size_t i = 0; i < record.logprobs().size(); ++i) {
    for (size_t k = 0; k < kTop; ++k) {
      EXPECT_EQ(record.top(i)[k].id, expected.top(i)[k].id);
      EXPECT_EQ(record.top(i)[k].logprob, expected.top(i)[k].logprob);
    }
  }
}

class PromptsRead : public ::testing::TestWithParam<const char*> {};

TEST_P(PromptsRead, AsInOneStep) {
  InOneStep alone(GetParam());
  for (const Preemption preemption : {Preemption::kRecompute, Preemption::kSpill}) {
    const auto engine = make_engine(GetParam(),
                                    {.ctx = kContext,
                                     .max_sequences = 6,
                                     .max_batch_tokens = 48,
                                     .kv_pages = 13,
                                     .spill_pages = 20,
                                     .prompt_rows = 7,
                                     .threads = 2},
                                    {.decode_reserve = 2, .preemption = preemption});
    ASSERT_NE(engine, nullptr);
    struct Asked {
      PromptReading reading;
      std::vector<int32_t> prompt;
      AnswerHandle answer;
    };
    std::vector<Asked> all;
    for (int32_t i = 0; i < 40; ++i) {
      constexpr std::array kKinds = {PromptReading::kLogprobs, PromptReading::kNone,
                                     PromptReading::kLastState, PromptReading::kMeanState};
      const PromptReading reading = kKinds[static_cast<size_t>(i) % kKinds.size()];
      const std::vector<int32_t> prompt = some_prompt(static_cast<size_t>(3 + i * 11 % 90), i % 3);
      const int64_t n_answer = reading == PromptReading::kNone ? 60 : i % 8 == 0 ? 30 : 0;
      GenerationSettings settings = sampled(n_answer, static_cast<uint64_t>(i));
      settings.top_logprobs = kTop;
      Result<AnswerHandle> answer =
          engine->submit({.prompt = prompt, .settings = settings, .reading = reading});
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      all.push_back({reading, prompt, std::move(*answer)});
    }
    for (size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(i);
      Asked& asked = all[i];
      const std::vector<int32_t> ids = collect(asked.answer);
      const Outcome& outcome = asked.answer.outcome();
      EXPECT_EQ(outcome.reason, FinishReason::kLength);
      EXPECT_EQ(outcome.usage.prompt_tokens, static_cast<int64_t>(asked.prompt.size()));
      if (asked.reading == PromptReading::kNone) continue;
      if (reads_all_rows(asked.reading)) EXPECT_EQ(outcome.usage.reused_tokens, 0);
      expect_equal(asked.answer.prompt(), alone.read(asked.reading, asked.prompt));
    }
    engine->drain();
    EXPECT_GT(engine->gauges().schedule.preemptions, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, PromptsRead, ::testing::Values("llama", "gemma3", "qwen3"),
                         [](const auto& info) { return std::string(info.param); });

// Counts the phases in which the vocabulary's layer ran.
class HeadCount : public graph::Profiler {
 public:
  void on_phase(const graph::Phase& phase, std::chrono::nanoseconds) override {
    n_ += phase.kind == graph::PhaseKind::kHead ? 1 : 0;
  }
  int taken() { return std::exchange(n_, 0); }

 private:
  int n_ = 0;
};

TEST(PromptReading, StatesAloneNeedNoVocabulary) {
  const std::unique_ptr<Runner> runner =
      load(model_file("llama"),
           {.ctx = kContext, .max_sequences = 2, .max_outputs = kContext, .prompt_rows = 1, .threads = 2});
  HeadCount head;
  runner->set_profiler(&head);
  const std::vector<int32_t> prompts[] = {some_prompt(20, 1), some_prompt(20, 2)};
  const auto states = [&](RowOutput first, RowOutput second) {
    const SequenceId sequences[] = {*runner->open(), *runner->open()};
    const BatchItem items[] = {
        {.sequence = sequences[0], .tokens = prompts[0], .logits = Logits::kAll, .output = first},
        {.sequence = sequences[1], .tokens = prompts[1], .logits = Logits::kLast, .output = second}};
    EXPECT_TRUE(runner->step(items).ok());
    for (const SequenceId sequence : sequences) runner->close(sequence);
    std::vector<uint32_t> all;
    for (int64_t row = 0; row < runner->n_logits(); ++row) {
      const std::vector<uint32_t> one = bits(runner->state(row));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  const std::vector<uint32_t> expected = states(RowOutput::kLogits, RowOutput::kLogits);
  EXPECT_EQ(head.taken(), 1);
  EXPECT_EQ(states(RowOutput::kState, RowOutput::kLogits), expected);
  EXPECT_EQ(head.taken(), 1);
  EXPECT_EQ(states(RowOutput::kState, RowOutput::kState), expected);
  EXPECT_EQ(head.taken(), 0);
}

TEST(PromptReading, NothingPredictsTheFirstToken) {
  InOneStep alone("llama");
  const std::vector<int32_t> prompt = some_prompt(30, 1);
  const PromptRecord record = alone.read(PromptReading::kLogprobs, prompt);
  ASSERT_EQ(record.logprobs().size(), prompt.size());
  EXPECT_TRUE(std::isnan(record.logprobs()[0]));
  EXPECT_EQ(record.top(0)[0].id, -1);
  for (size_t i = 1; i < prompt.size(); ++i) {
    EXPECT_LT(record.logprobs()[i], 0);
    EXPECT_GE(record.top(i)[0].logprob, record.logprobs()[i]);
  }
}

TEST(PromptReading, IsRefusedWithoutRowsForIt) {
  const auto engine = make_engine("llama", {.ctx = kContext, .threads = 1});
  ASSERT_NE(engine, nullptr);
  const Result<AnswerHandle> answer =
      engine->submit({.prompt = some_prompt(5, 1), .reading = PromptReading::kMeanState});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnsupported);
}

// An answer that ends with a token of its own, and what keeps it from ending.
class Endings : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_ = make_engine("llama", {.ctx = kContext, .prompt_rows = 4, .threads = 1});
    ASSERT_NE(engine_, nullptr);
    all_ = ask({.prompt = prompt_, .settings = greedy(12)});
    ASSERT_EQ(all_.size(), 12u);
    // A token that the answer has not said before.
    while (at_ < 11 &&
           std::count(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(at_), all_[at_]) > 0)
      ++at_;
  }
  std::vector<int32_t> ask(Request request) {
    Result<AnswerHandle> answer = engine_->submit(std::move(request));
    EXPECT_TRUE(answer.ok());
    std::vector<int32_t> ids = collect(*answer);
    reason_ = answer->outcome().reason;
    return ids;
  }
  GenerationSettings until(int32_t id) {
    GenerationSettings settings = greedy(12);
    settings.stop_tokens = {id};
    return settings;
  }

  std::unique_ptr<Engine> engine_;
  const std::vector<int32_t> prompt_ = some_prompt(9, 4);
  std::vector<int32_t> all_;
  size_t at_ = 3;
  FinishReason reason_ = FinishReason::kCancelled;
};

TEST_F(Endings, AStopTokenEndsTheAnswerBeforeIt) {
  const std::vector<int32_t> cut = ask({.prompt = prompt_, .settings = until(all_[at_])});
  EXPECT_EQ(cut, std::vector<int32_t>(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(at_)));
  EXPECT_EQ(reason_, FinishReason::kStop);
}

TEST_F(Endings, WhoReadsThePromptIsToldTheTokenThatEnds) {
  const std::vector<int32_t> cut =
      ask({.prompt = prompt_, .settings = until(all_[at_]), .reading = PromptReading::kLogprobs});
  EXPECT_EQ(cut, std::vector<int32_t>(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(at_) + 1));
  EXPECT_EQ(reason_, FinishReason::kStop);
}

TEST_F(Endings, NoTokenEndsTheAnswerBeforeItsLeastLength) {
  GenerationSettings settings = until(all_[at_]);
  settings.min_tokens = static_cast<int64_t>(at_) + 1;
  const std::vector<int32_t> longer = ask({.prompt = prompt_, .settings = settings});
  ASSERT_GT(longer.size(), at_);
  EXPECT_TRUE(std::equal(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(at_), longer.begin()));
  EXPECT_NE(longer[at_], all_[at_]);
}

}  // namespace
}  // namespace quire
