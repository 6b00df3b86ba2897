// Whatever way a sequence came by its keys and values, its logits are those of a run alone, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "unit/engine/tiny_model.h"

namespace quire {
namespace {

using Bits = std::vector<uint32_t>;

class SharedMemory : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr size_t kPrompt = 144;

  static constexpr int32_t kDraft = 4;

  static std::unique_ptr<Runner> load() {
    return testing::load(
        GetParam(),
        {.ctx = 192, .max_sequences = 4, .max_batch_tokens = 64, .max_draft = kDraft, .threads = 1});
  }
  static std::vector<int32_t> tokens(const Runner& runner, int64_t seed, size_t n) {
    std::vector<int32_t> ids;
    for (size_t i = 0; i < n; ++i)
      ids.push_back(
          static_cast<int32_t>((static_cast<int64_t>(i) * 37 + seed * 101) % runner.model().n_vocab()));
    return ids;
  }
  static std::vector<int32_t> joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Bits feed(Runner& runner, SequenceId sequence, std::span<const int32_t> tokens) {
    EXPECT_TRUE(runner.feed(sequence, tokens).ok());
    const std::span<const float> logits = runner.logits(0);
    Bits bits(logits.size());
    std::memcpy(bits.data(), logits.data(), logits.size_bytes());
    EXPECT_TRUE(runner.memory_module().check().ok());
    return bits;
  }
  static Bits alone(std::span<const int32_t> prompt) {
    const std::unique_ptr<Runner> runner = load();
    return feed(*runner, runner->open().value(), prompt);
  }
  // Shares what is known, feeds the rest.
  static Bits attach(Runner& runner, std::span<const int32_t> prompt, int64_t expected) {
    const SequenceId sequence = runner.open().value();
    const int64_t shared = runner.memory_module().attach(sequence, prompt);
    EXPECT_EQ(shared, expected);
    return feed(runner, sequence, prompt.subspan(static_cast<size_t>(shared)));
  }
};

TEST_P(SharedMemory, PrefixesReusedWholeAndInPart) {
  const std::unique_ptr<Runner> runner = load();
  const std::vector<int32_t> prompt = tokens(*runner, 1, kPrompt);
  const std::vector<int32_t> whole = joined(prompt, tokens(*runner, 2, 9));
  const std::vector<int32_t> part = joined({prompt.begin(), prompt.end() - 5}, tokens(*runner, 3, 9));
  const Bits expected = alone(prompt);
  // A state is left at the last full page of a prompt but for its last token.
  const bool states = runner->memory_module().states() != nullptr;
  EXPECT_EQ(attach(*runner, prompt, 0), expected);
  EXPECT_EQ(attach(*runner, prompt, states ? kPrompt - 16 : kPrompt - 1), expected);
  EXPECT_EQ(attach(*runner, whole, states ? kPrompt - 16 : kPrompt), alone(whole));
  EXPECT_EQ(attach(*runner, part, states ? kPrompt - 16 : kPrompt - 5), alone(part));
  EXPECT_EQ(runner->memory_module().gauges().pages_copied > 0, !states);
}

TEST_P(SharedMemory, ForksGoTheirOwnWays) {
  const std::unique_ptr<Runner> runner = load();
  const std::vector<int32_t> prompt = tokens(*runner, 1, kPrompt + 7);
  const SequenceId a = runner->open().value();
  feed(*runner, a, prompt);
  const SequenceId b = runner->memory_module().fork(a).value();
  const std::vector<int32_t> left = tokens(*runner, 2, 20), right = tokens(*runner, 3, 20);
  EXPECT_EQ(feed(*runner, b, right), alone(joined(prompt, right)));
  EXPECT_EQ(feed(*runner, a, left), alone(joined(prompt, left)));
}

TEST_P(SharedMemory, TruncatedAndRegrown) {
  const std::unique_ptr<Runner> runner = load();
  const std::vector<int32_t> prompt = tokens(*runner, 1, kPrompt);
  const SequenceId a = runner->open().value();
  const Bits expected = feed(*runner, a, prompt);
  for (const int64_t n_keep : {140, 75, 3}) {
    const int64_t kept = runner->truncate(a, n_keep);
    ASSERT_LE(kept, n_keep);
    EXPECT_EQ(feed(*runner, a, std::span(prompt).subspan(static_cast<size_t>(kept))), expected) << n_keep;
  }
}

TEST_P(SharedMemory, RefusedDraftsLeaveNoTrace) {
  const std::unique_ptr<Runner> runner = load();
  const std::vector<int32_t> prompt = tokens(*runner, 1, kPrompt);
  const SequenceId a = runner->open().value();
  feed(*runner, a, std::span(prompt).first(kPrompt - 60));
  // A token that is right and a draft of which some are: the rest is taken back.
  for (int32_t round = 0; runner->length(a) + kDraft + 1 < static_cast<int64_t>(kPrompt); ++round) {
    const auto begin = static_cast<size_t>(runner->length(a));
    const auto accepted = static_cast<size_t>(1 + round % (kDraft + 1));
    std::vector<int32_t> draft(prompt.begin() + static_cast<ptrdiff_t>(begin),
                               prompt.begin() + static_cast<ptrdiff_t>(begin + kDraft + 1));
    for (size_t i = accepted; i < draft.size(); ++i) draft[i] = (draft[i] + 1) % 5;
    feed(*runner, a, draft);
    const auto kept = static_cast<int64_t>(begin + accepted);
    ASSERT_EQ(runner->truncate(a, kept), kept);
  }
  EXPECT_EQ(feed(*runner, a, std::span(prompt).subspan(static_cast<size_t>(runner->length(a)))),
            alone(prompt));
}

TEST_P(SharedMemory, WhereverPagesLie) {
  const std::unique_ptr<Runner> runner = load();
  const std::vector<int32_t> prompt = tokens(*runner, 1, kPrompt);
  if (runner->memory_module().n_groups() == 0) GTEST_SKIP() << "there are no pages";
  const Bits expected = alone(prompt);
  for (const std::vector<int32_t>& order :
       {std::vector<int32_t>{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, {40, 2, 13, 7, 29, 31, 1, 17, 3, 5}}) {
    runner->memory_module().clear_cache();
    runner->memory_module().order_free_pages(order);
    const SequenceId a = runner->open().value();
    EXPECT_EQ(feed(*runner, a, prompt), expected);
    EXPECT_EQ(runner->memory_module().group(0).page(a.index, 1), order[1]);
    runner->close(a);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, SharedMemory,
                         ::testing::Values("llama/model-f32.gguf", "gemma3/model-f32.gguf",
                                           "mamba2/model-f16.gguf", "qwen35/model-f16.gguf"),
                         [](const auto& param) {
                           const std::string name = param.param;
                           return name.substr(0, name.find('/'));
                         });

}  // namespace
}  // namespace quire
