// The verification on tiny models: every way is taken and equal; and it would notice if one were not.
#include "engine/verify/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/verify/trace.h"
#include "tiny_model.h"

namespace quire::verify {
namespace {

std::vector<VerifyRow> verify(const std::string& model, const EngineSettings& settings, Extent extent) {
  std::vector<VerifyRow> rows;
  const Result<VerifySummary> summary = run_verification(testing::model_path(testing::model_file(model)),
                                                         settings, extent, [&](const VerifyRow& row) {
                                                           rows.push_back(row);
                                                           return true;
                                                         });
  EXPECT_TRUE(summary.ok()) << (summary.ok() ? "" : summary.error().message);
  return rows;
}

bool has_way(const std::vector<VerifyRow>& rows, const std::string& way) {
  return std::ranges::find(rows, way, &VerifyRow::way) != rows.end();
}

class VerifyModels : public ::testing::TestWithParam<const char*> {
 protected:
  bool has_states() const {
    return GetParam() == std::string("mamba2") || GetParam() == std::string("qwen35");
  }
};

TEST_P(VerifyModels, EveryWayIsTakenAndEqual) {
  const std::vector<VerifyRow> rows = verify(GetParam(), {.threads = 2}, Extent::kQuick);
  for (const VerifyRow& row : rows) {
    EXPECT_EQ(row.verdict, Verdict::kEqual) << row.way << ": " << row.different << " of " << row.compared
                                            << " differ, " << row.count << " " << row.counter;
  }
  for (const char* way : {"steps of 1", "batch of 32 with strangers", "prefix found in memory", "fork",
                          "too far and back", "served among strangers", "prefix computed once for a burst",
                          "1 thread", "instruction set scalar", "without prefix-cache"}) {
    EXPECT_TRUE(has_way(rows, way)) << way;
  }
  const bool has_pages = GetParam() != std::string("mamba2");
  for (const char* way : {"pages reversed", "preempted and computed again", "spilled and brought back"})
    EXPECT_EQ(has_way(rows, way), has_pages) << way;
  EXPECT_EQ(has_way(rows, "prefix ending within a page"), !has_states());
}

INSTANTIATE_TEST_SUITE_P(Tiny, VerifyModels,
                         ::testing::Values("llama", "gemma3", "granitemoe", "mamba2", "qwen35"),
                         [](const auto& param) { return std::string(param.param); });

TEST(Verify, WithoutASharedPrefixThereIsNoRowForOne) {
  const std::vector<VerifyRow> rows =
      verify("llama", {.threads = 1, .off = {"prefix-cache", "spill"}}, Extent::kQuick);
  EXPECT_FALSE(rows.empty());
  EXPECT_FALSE(has_way(rows, "prefix found in memory"));
  EXPECT_FALSE(has_way(rows, "without prefix-cache"));
  EXPECT_FALSE(has_way(rows, "spilled and brought back"));
}

TEST(VerifyTrace, OneBitOfOneLogitIsADifference) {
  std::vector<float> logits(1000, 0.25f);
  Trace reference, same, other;
  for (int64_t position : {0, 1, 2}) reference.set(position, logits);
  for (int64_t position : {1, 2}) same.set(position, logits);
  logits[999] = -0.0f;
  const uint64_t minus = hash_logits(logits);
  logits[999] = 0.0f;
  EXPECT_NE(hash_logits(logits), minus);
  other.set(2, logits);
  EXPECT_EQ(compare(reference, same).compared, 2);
  EXPECT_EQ(compare(reference, same).different, 0);
  EXPECT_EQ(compare(reference, other).compared, 1);
  EXPECT_EQ(compare(reference, other).different, 1);
  reference.answer = {1, 2};
  other.answer = {1, 3};
  EXPECT_EQ(compare(reference, other).different, 2);
}

}  // namespace
}  // namespace quire::verify
