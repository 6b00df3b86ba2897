// Steps allocate nothing, on the engine's thread and the compute threads: operator new is counted while more
// than a thousand steps run, with streams at all lengths, full pages, prefix index and sampling with every
// filter.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "engine_case.h"

namespace {

thread_local bool is_test_thread = false;
std::atomic<bool> counting{false};
std::atomic<int64_t> n_allocations{0};

void* allocate(size_t n_bytes, size_t alignment) {
  if (counting.load() && !is_test_thread) n_allocations.fetch_add(1);
  void* memory = alignment > alignof(std::max_align_t)
                     ? std::aligned_alloc(alignment, (n_bytes + alignment - 1) / alignment * alignment)
                     : std::malloc(n_bytes == 0 ? 1 : n_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t n_bytes) { return allocate(n_bytes, 1); }
void* operator new[](size_t n_bytes) { return allocate(n_bytes, 1); }
void* operator new(size_t n_bytes, std::align_val_t alignment) {
  return allocate(n_bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t n_bytes, std::align_val_t alignment) {
  return allocate(n_bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace quire {
namespace {

using namespace testing;

// Counts between two steps of the request with tag 1.
class CountBetween final : public LogitsObserver {
 public:
  CountBetween(int64_t first, int64_t last) : first_(first), last_(last) {}
  void on_logits(uint64_t tag, int64_t position, std::span<const float>) override {
    if (tag != 1) return;
    if (position == first_) counting.store(true);
    if (position == last_) counting.store(false);
    if (counting.load()) ++n_steps_;
  }
  int64_t n_steps() const { return n_steps_; }

 private:
  int64_t first_, last_;
  int64_t n_steps_ = 0;
};

class EngineAllocation : public ::testing::TestWithParam<const char*> {};

TEST_P(EngineAllocation, AThousandStepsAllocateNothing) {
  is_test_thread = true;
  CountBetween observer(60, 1200);
  n_allocations.store(0);
  {
    const auto engine =
        make_engine(GetParam(),
                    {.ctx = 1280,
                     .max_sequences = 4,
                     .max_batch_tokens = 32,
                     .kv_pages = 120,
                     .spill_pages = 100,
                     .prompt_rows = 6,
                     .threads = 2},
                    {.preemption = Preemption::kSpill, .max_unread = 0, .observer = &observer});
    ASSERT_NE(engine, nullptr);
    std::vector<AnswerHandle> answers;
    // The first stream goes through all of it; the others come, are preempted, end and make room meanwhile.
    for (int32_t i = 1; i <= 12; ++i) {
      Request request{.prompt = some_prompt(static_cast<size_t>(30 + i), i),
                      .settings = sampled(i == 1 ? 1200 : 600, static_cast<uint64_t>(i)),
                      .tag = static_cast<uint64_t>(i)};
      if (i % 3 == 0) request.reading = PromptReading::kLogprobs;
      if (i % 3 == 2) request.reading = PromptReading::kMeanState;
      request.settings.top_logprobs = 2;
      request.settings.sampling.top_k = 30;
      request.settings.sampling.top_p = 0.95f;
      request.settings.sampling.typical_p = 0.9f;
      request.settings.sampling.repetition_penalty = 1.1f;
      request.settings.sampling.logprob = Logprob::kCompute;
      answers.push_back(std::move(*engine->submit(std::move(request))));
    }
    for (AnswerHandle& answer : answers) collect(answer);
    if (engine->gauges().memory.n_groups > 0) {  // states alone never run out
      EXPECT_GT(engine->gauges().schedule.preemptions, 0);
      EXPECT_GT(engine->gauges().memory.restores, 0);
    }
  }
  EXPECT_GE(observer.n_steps(), 1000);
  EXPECT_EQ(n_allocations.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Tiny, EngineAllocation,
                         ::testing::Values("llama", "gemma3", "mamba2", "falcon-h1", "qwen35",
                                           "deepseek2-lite", "mixtral-top3"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// The hook itself works: a thread that allocates is seen.
TEST(AllocationCounter, SeesOtherThreads) {
  is_test_thread = true;
  n_allocations.store(0);
  counting.store(true);
  std::thread([] { ::operator delete(::operator new(8)); }).join();
  counting.store(false);
  EXPECT_GT(n_allocations.load(), 0);
}

}  // namespace
}  // namespace quire
