// What the bench of served requests counts; times are only there.
#include "engine/served_bench.h"

#include <gtest/gtest.h>

#include "tiny_model.h"

namespace quire {
namespace {

ServedBench make_bench() {
  std::unique_ptr<Runner> runner = testing::load(
      testing::model_file("llama"), {.ctx = 16384, .max_sequences = 8, .max_batch_tokens = 64, .threads = 1});
  return std::move(ServedBench::create(std::move(runner))).value();
}

TEST(ServedBench, CountsWhatIsComputedAndHeldWithSharingAndWithout) {
  ServedBench bench = make_bench();
  // Answers longer than all prompts, so that none ends before the last prompt is through.
  ServedTest test = {.batch = 6, .n_prompt = 96, .n_shared = 64, .n_answer = 6 * 96 + 1};
  const ServedResult shared = bench.run(test).value();
  EXPECT_EQ(shared.computed_tokens, 64 + 6 * 32);
  EXPECT_EQ(shared.shared_tokens, 5 * 64);
  test.sharing = PrefixSharing::kOff;
  const ServedResult separate = bench.run(test).value();
  EXPECT_EQ(separate.computed_tokens, 6 * 96);
  EXPECT_EQ(separate.shared_tokens, 0);
  EXPECT_GT(separate.kv_bytes, shared.kv_bytes);
  for (const ServedResult& result : {shared, separate}) {
    EXPECT_GT(result.prefill_tps, 0);
    EXPECT_GT(result.decode_tps, 0);
    EXPECT_LE(result.first_token_p50, result.first_token_last);
    EXPECT_LE(result.first_token_last, result.total_seconds);
  }
  EXPECT_FALSE(bench.run({.batch = 1, .n_prompt = 4, .n_shared = 5, .n_answer = 1}).ok());
}

TEST(ServedBench, TimesPromptsAmongStreams) {
  ServedBench bench = make_bench();
  const Result<MixedResult> result = bench.run_mixed({.n_streams = 3, .n_prompts = 2, .n_prompt = 200});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_GT(result->quiet.p50, 0);
  EXPECT_GE(result->quiet.p99, result->quiet.p50);
  EXPECT_GE(result->among.p99, result->among.p50);
  EXPECT_GT(result->prefill_alone_tps, 0);
  EXPECT_GT(result->prefill_tps, 0);
  EXPECT_FALSE(bench.run_mixed({.n_streams = 1, .n_prompts = 1, .n_prompt = 20000}).ok());
}

}  // namespace
}  // namespace quire
